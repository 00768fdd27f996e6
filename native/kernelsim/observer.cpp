// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiled without the instrumentation, whose functions it defines.
#include "kernelsim/observer.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace heapwright::kernelsim {

namespace {

constexpr std::size_t lineShift = 6;
using Place = std::uintptr_t;

Place placeOf(const void* address) noexcept {
    return reinterpret_cast<Place>(address);
}

/// Watched memory. Each line has a bit for each processor with a copy.
struct Range {
    Place start = 0;
    Place end = 0;
    std::vector<std::uint8_t> copies;
};

struct LockUse {
    std::uint64_t takes = 0;
    std::uint64_t handOvers = 0;
    std::uint64_t instructions = 0; ///< while it was held
    std::uint64_t transfers = 0;    ///< while it was held
    std::size_t last = 0;           ///< the processor that took it last
};

struct Held {
    const void* lock = nullptr;
    std::uint64_t instructions = 0; ///< of the processor when it was taken
    std::uint64_t transfers = 0;
};

struct State {
    std::vector<Range> ranges;
    std::size_t recent = 0; ///< the range of the last access
    std::map<const void*, LockUse> locks;
    std::vector<std::pair<Place, Place>> own;
    std::vector<Held> held;
    Counts counts;
};

State state;
bool counting = false;
std::size_t now = 0;

void touchLine(Range& range, Place place, bool writes) noexcept {
    std::uint8_t& copies = range.copies[(place - range.start) >> lineShift];
    const auto mine = static_cast<std::uint8_t>(1U << now);
    const auto others = static_cast<std::uint8_t>(copies & ~unsigned{mine});
    if ((copies & mine) == 0 && others != 0)
        ++(counting ? state.counts.transfers[now] : state.counts.userTransfers);
    if (counting && writes && others != 0)
        ++state.counts.invalidations;
    copies = writes ? mine : static_cast<std::uint8_t>(copies | mine);
}

void touch(Place place, std::size_t bytes, bool writes) noexcept {
    std::vector<Range>& ranges = state.ranges;
    for (std::size_t each = 0; each < ranges.size(); ++each) {
        Range& range = ranges[state.recent];
        if (place >= range.start && place < range.end) {
            const Place end = std::min(place + bytes, range.end);
            for (Place line = place >> lineShift; line << lineShift < end; ++line)
                touchLine(range, std::max(line << lineShift, range.start), writes);
            return;
        }
        state.recent = (state.recent + 1) % ranges.size();
    }
}

void countInstruction() noexcept {
    if (counting)
        ++state.counts.instructions[now];
}

void access(const void* address, std::size_t bytes, bool writes) noexcept {
    if (!counting)
        return;
    countInstruction();
    touch(placeOf(address), bytes, writes);
}

/// A copy of memory: a load and a store for each word.
void copied(const void* to, const void* from, std::size_t bytes) noexcept {
    if (!counting || bytes == 0)
        return;
    state.counts.instructions[now] += 2 * ((bytes + sizeof(Place) - 1) / sizeof(Place));
    touch(placeOf(from), bytes, false);
    touch(placeOf(to), bytes, true);
}

bool isOwn(const void* lock) noexcept {
    const auto after = std::upper_bound(
        state.own.begin(), state.own.end(), placeOf(lock),
        [](Place place, const std::pair<Place, Place>& each) { return place < each.first; });
    return after != state.own.begin() && placeOf(lock) < std::prev(after)->second;
}

/// Suspends counting: a compiler may copy a structure of this file by memcpy, which counts.
class Uncounted {
public:
    Uncounted() noexcept : before_(counting) { counting = false; }
    Uncounted(const Uncounted&) = delete;
    Uncounted& operator=(const Uncounted&) = delete;
    ~Uncounted() { counting = before_; }

private:
    bool before_;
};

} // namespace

namespace observer {

void reset() {
    counting = false;
    state = State{};
}

void watch(const void* start, std::size_t bytes) {
    const Place from = placeOf(start);
    state.ranges.push_back(
        {from, from + bytes, std::vector<std::uint8_t>((bytes >> lineShift) + 1)});
}

void enter(std::size_t processor) noexcept {
    now = processor;
    counting = true;
}
void leave() noexcept {
    counting = false;
}

void useObject(const void* object, std::size_t processor) noexcept {
    now = processor;
    touch(placeOf(object), 1, true);
}

void tookLock(const void* lock) noexcept {
    if (!counting)
        return;
    access(lock, 1, true);
    const auto [found, isNew] = state.locks.try_emplace(lock);
    LockUse& use = found->second;
    ++use.takes;
    use.handOvers += !isNew && use.last != now ? 1U : 0U;
    use.last = now;
    state.held.push_back({lock, state.counts.instructions[now], state.counts.transfers[now]});
}

void releasedLock(const void* lock) noexcept {
    if (!counting)
        return;
    access(lock, 1, true);
    const Held held = state.held.back();
    state.held.pop_back();
    LockUse& use = state.locks.at(held.lock);
    use.instructions += state.counts.instructions[now] - held.instructions;
    use.transfers += state.counts.transfers[now] - held.transfers;
}

void markOwn(const void* lock, std::size_t bytes) {
    state.own.emplace_back(placeOf(lock), placeOf(lock) + bytes);
}

Counts counts() {
    const Uncounted here;
    std::sort(state.own.begin(), state.own.end());
    Counts made = state.counts;
    const auto span = [](std::uint64_t instructions, std::uint64_t transfers) {
        return instructions + transfers * instructionsOfTransfer;
    };
    for (std::size_t each = 0; each < mostProcessors; ++each) {
        made.path = std::max(made.path, made.instructions[each]);
        made.time = std::max(made.time, span(made.instructions[each], made.transfers[each]));
    }
    for (const auto& [lock, use] : state.locks) {
        if (isOwn(lock)) {
            made.ownLockTakes += use.takes;
            continue;
        }
        made.lockTakes += use.takes;
        made.handOvers += use.handOvers;
        made.path = std::max(made.path, use.instructions);
        made.time = std::max(made.time, span(use.instructions, use.transfers));
        made.underOneLock = std::max(made.underOneLock, use.instructions);
    }
    return made;
}

} // namespace observer

} // namespace heapwright::kernelsim

namespace {
using heapwright::kernelsim::access;
using heapwright::kernelsim::copied;

template <class T>
T load(const volatile T* place, int order) noexcept {
    access(const_cast<const T*>(place), sizeof(T), false);
    return __atomic_load_n(place, order);
}
template <class T>
volatile T* written(volatile T* place) noexcept {
    access(const_cast<const T*>(place), sizeof(T), true);
    return place;
}
} // namespace

// The functions that instrumented code calls. Their names and types are the compilers'.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define HEAPWRIGHT_ACCESS(bytes)                                                                   \
    void __tsan_read##bytes(void* place) {                                                         \
        access(place, bytes, false);                                                               \
    }                                                                                              \
    void __tsan_write##bytes(void* place) {                                                        \
        access(place, bytes, true);                                                                \
    }                                                                                              \
    void __tsan_unaligned_read##bytes(void* place) {                                               \
        access(place, bytes, false);                                                               \
    }                                                                                              \
    void __tsan_unaligned_write##bytes(void* place) {                                              \
        access(place, bytes, true);                                                                \
    }

#define HEAPWRIGHT_ATOMIC(bits, T)                                                                 \
    T __tsan_atomic##bits##_load(const volatile T* place, int order) {                             \
        return load(place, order);                                                                 \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile T* place, T value, int order) {                      \
        __atomic_store_n(written(place), value, order);                                            \
    }                                                                                              \
    T __tsan_atomic##bits##_exchange(volatile T* place, T value, int order) {                      \
        return __atomic_exchange_n(written(place), value, order);                                  \
    }                                                                                              \
    T __tsan_atomic##bits##_fetch_add(volatile T* place, T value, int order) {                     \
        return __atomic_fetch_add(written(place), value, order);                                   \
    }                                                                                              \
    T __tsan_atomic##bits##_fetch_sub(volatile T* place, T value, int order) {                     \
        return __atomic_fetch_sub(written(place), value, order);                                   \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile T* place, T* expected, T wanted,    \
                                                      int order, int orderElse) {                  \
        return __atomic_compare_exchange_n(written(place), expected, wanted, false, order,         \
                                           orderElse)                                              \
                   ? 1                                                                             \
                   : 0;                                                                            \
    }                                                                                              \
    T __tsan_atomic##bits##_compare_exchange_val(volatile T* place, T expected, T wanted,          \
                                                 int order, int orderElse) {                       \
        __atomic_compare_exchange_n(written(place), &expected, wanted, false, order, orderElse);   \
        return expected;                                                                           \
    }

extern "C" {
HEAPWRIGHT_ACCESS(1)
HEAPWRIGHT_ACCESS(2)
HEAPWRIGHT_ACCESS(4)
HEAPWRIGHT_ACCESS(8)
HEAPWRIGHT_ACCESS(16)
HEAPWRIGHT_ATOMIC(8, std::uint8_t)
HEAPWRIGHT_ATOMIC(16, std::uint16_t)
HEAPWRIGHT_ATOMIC(32, std::uint32_t)
HEAPWRIGHT_ATOMIC(64, std::uint64_t)

void __tsan_read_range(void* place, std::size_t bytes) {
    access(place, bytes, false);
}
void __tsan_write_range(void* place, std::size_t bytes) {
    access(place, bytes, true);
}
void __tsan_vptr_update(void** place, void* /*value*/) {
    access(place, sizeof(void*), true);
}
void __tsan_vptr_read(void** place) {
    access(place, sizeof(void*), false);
}
void __tsan_init() {}
void __tsan_func_entry(void* /*caller*/) {}
void __tsan_func_exit() {}
void __sanitizer_cov_trace_pc() {
    heapwright::kernelsim::countInstruction();
}

// The linker sends the program's copies here (`--wrap`).
void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __real_memmove(void* to, const void* from, std::size_t bytes);
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
    copied(to, from, bytes);
    return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
    copied(to, from, bytes);
    return __real_memmove(to, from, bytes);
}
}
#undef HEAPWRIGHT_ACCESS
#undef HEAPWRIGHT_ATOMIC
// NOLINTEND(bugprone-macro-parentheses)

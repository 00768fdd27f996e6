// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory for signal handlers that interrupted the heap. Both arenas are lock-free and
// async-signal-safe. docs/explanation/signals.md shows in which states they serve a request.
//
// `EmergencyArena` has one range of addresses, so `owns` is a comparison. A position moves forward
// through the range, and starts again when no object is live.
//
// `HandlerArena` serves heaps whose memory is cut into units: aligned blocks of `UnitBytes`, whose
// first word is the owner tag (structure/cache/owner_tag.hpp). An object's unit contains the byte
// before the object. The arena's units have owner tag 0, so no thread caches their objects, and a
// second word that no other unit has. Small objects are cut from the current unit. A unit without
// live objects starts again if it is current, else it is free for reuse. A large object has a
// mapping of its own. The arena grows until the system has no memory.
//
// Invariant: position and number of live objects are one 64-bit word, changed by compare-and-swap.
// Invariant: the word 16 bytes before an object is its size, except for objects with a mapping.
// Invariant: a closed unit serves no object. The thread that makes it closed and empty, and no
// other, puts it on the list of free units.
// Invariant: a unit is not unmapped before the arena ends. So a delayed thread may still read it.
// Invariant: the head of the free list has a counter in its low bits, against reuse between a load
// and a compare-and-swap.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/pages.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace heapwright {

/// The word that holds an arena's position, in bytes, and its number of live objects.
struct ArenaState {
    [[nodiscard]] static constexpr std::uint64_t pack(std::size_t position,
                                                      std::uint64_t live) noexcept {
        return (std::uint64_t{position} << 32U) | live;
    }
    [[nodiscard]] static constexpr std::size_t positionOf(std::uint64_t state) noexcept {
        return state >> 32U;
    }
    [[nodiscard]] static constexpr std::uint64_t liveOf(std::uint64_t state) noexcept {
        return state & 0xFFFFFFFFU;
    }
};

class EmergencyArena {
public:
    static constexpr std::size_t capacity = 64 * MiB;

    constexpr EmergencyArena() noexcept = default;
    EmergencyArena(const EmergencyArena&) = delete;
    EmergencyArena& operator=(const EmergencyArena&) = delete;
    ~EmergencyArena() {
        const Address base = base_.load(std::memory_order_relaxed);
        if (base != nowhere) {
            platform::unmapPages(pointerTo(base), capacity);
        }
    }

    /// Whether an address is in the arena.
    /// Cost: a subtraction and a comparison.
    [[nodiscard]] bool owns(const void* object) const noexcept {
        return addressOf(object) - base_.load(std::memory_order_relaxed) < capacity;
    }

    /// Null when the arena is full or the system has no memory.
    /// Pre: `align` is a power of two.
    [[nodiscard, gnu::cold, gnu::noinline]] void* memalign(std::size_t align,
                                                           std::size_t size) noexcept {
        align = align < minAlignment ? minAlignment : align;
        const Address base = mapped();
        if (base == nowhere || size > capacity || align > capacity) {
            return nullptr;
        }
        std::uint64_t seen = state_.load(std::memory_order_relaxed);
        for (;;) {
            const Address object =
                roundUp(base + ArenaState::positionOf(seen) + headerBytes, align);
            const std::size_t end = object - base + roundUp(size, minAlignment);
            if (end > capacity) {
                return nullptr;
            }
            if (state_.compare_exchange_weak(
                    seen, ArenaState::pack(end, ArenaState::liveOf(seen) + 1),
                    std::memory_order_acquire, std::memory_order_relaxed)) {
                ::new (pointerTo(object - headerBytes)) std::size_t(roundUp(size, minAlignment));
                return pointerTo(object);
            }
        }
    }

    [[gnu::cold, gnu::noinline]] void free(void* /*object*/) noexcept {
        std::uint64_t seen = state_.load(std::memory_order_relaxed);
        std::uint64_t next = 0;
        do {
            const std::uint64_t live = ArenaState::liveOf(seen) - 1;
            next = live == 0 ? 0 : ArenaState::pack(ArenaState::positionOf(seen), live);
        } while (!state_.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                               std::memory_order_relaxed));
    }

    [[nodiscard]] static std::size_t getSize(void* object) noexcept {
        return *static_cast<std::size_t*>(backward(object, headerBytes));
    }

    /// The number of live objects.
    [[nodiscard]] std::size_t live() const noexcept {
        return ArenaState::liveOf(state_.load(std::memory_order_relaxed));
    }

private:
    static constexpr std::size_t headerBytes = 16;
    /// The base before the first use, at the end of the address space: `owns` is then false.
    static constexpr Address nowhere = ~Address{0} - capacity + 1;

    /// The base. The first caller reserves the addresses.
    Address mapped() noexcept {
        Address base = base_.load(std::memory_order_acquire);
        if (base != nowhere) {
            return base;
        }
        void* const pages = platform::reservePages(capacity);
        if (pages == nullptr) {
            return nowhere;
        }
        if (base_.compare_exchange_strong(base, addressOf(pages), std::memory_order_acq_rel)) {
            return addressOf(pages);
        }
        platform::unmapPages(pages, capacity);
        return base;
    }

    std::atomic<Address> base_{nowhere};
    std::atomic<std::uint64_t> state_{0}; ///< an ArenaState
};

template <std::size_t UnitBytes>
class HandlerArena {
public:
    constexpr HandlerArena() noexcept = default;
    HandlerArena(const HandlerArena&) = delete;
    HandlerArena& operator=(const HandlerArena&) = delete;
    /// Pre: no object is live.
    ~HandlerArena() {
        Unit* unit = all_.load(std::memory_order_relaxed);
        while (unit != nullptr) {
            Unit* const next = unit->older;
            platform::unmapPages(unit, UnitBytes);
            unit = next;
        }
    }

    /// The second word of the arena's units. Other units have an address there, and this is none.
    static constexpr std::uint64_t kind = 0x8A4D'1E5A'4E4A'0001;

    /// Whether an arena allocated an object.
    /// Pre: the object is in a unit of any kind.
    [[nodiscard]] static bool owns(const void* object) noexcept {
        return __atomic_load_n(&unitAt(object)->kindWord, __ATOMIC_RELAXED) == kind;
    }

    /// Null when the system has no memory.
    /// Pre: `align` is a power of two.
    [[nodiscard, gnu::cold, gnu::noinline]] void* memalign(std::size_t align,
                                                           std::size_t size) noexcept {
        align = align < minAlignment ? minAlignment : align;
        if (size > largestCut || align > largestCut) {
            return mapped(align, size);
        }
        for (;;) {
            Unit* const unit = current_.load(std::memory_order_acquire);
            if (unit != nullptr) {
                if (void* const object = unit->cut(align, size)) {
                    return object;
                }
            }
            if (!renew(unit)) {
                return nullptr;
            }
        }
    }

    [[gnu::cold, gnu::noinline]] void free(void* object) noexcept {
        Unit* const unit = unitAt(object);
        if (unit->mapping != nullptr) {
            bytes_.fetch_sub(unit->mappingBytes, std::memory_order_relaxed);
            platform::unmapPages(unit->mapping, unit->mappingBytes);
        } else if (unit->release()) {
            putFree(unit);
        }
    }

    [[nodiscard]] static std::size_t getSize(const void* object) noexcept {
        const Unit* const unit = unitAt(object);
        return unit->mapping != nullptr
                   ? addressOf(unit->mapping) + unit->mappingBytes - addressOf(object)
                   : *static_cast<const std::size_t*>(pointerTo(addressOf(object) - headerBytes));
    }

    /// Whether objects of this arena may exist: false until a handler has allocated one.
    [[nodiscard]] bool used() const noexcept { return bytes() != 0; }

    /// The number of mapped bytes.
    [[nodiscard]] std::size_t bytes() const noexcept {
        return bytes_.load(std::memory_order_relaxed);
    }

private:
    static constexpr std::size_t headerBytes = 16;
    static constexpr std::size_t unitHeader = 64;
    static constexpr std::size_t largestCut = UnitBytes / 4;
    static constexpr std::size_t closed = 2 * UnitBytes; ///< the position of a closed unit

    struct Unit {
        std::uint64_t ownerTag = 0;    ///< owner tag of no thread
        std::uint64_t kindWord = kind; ///< distinguishes the arena's units
        std::atomic<std::uint64_t> state{ArenaState::pack(closed, 0)}; ///< an ArenaState
        std::atomic<Unit*> nextFree{nullptr};
        Unit* older = nullptr;   ///< the unit mapped before this one
        void* mapping = nullptr; ///< start of a single object's mapping, else null
        std::size_t mappingBytes = 0;

        [[nodiscard]] void* cut(std::size_t align, std::size_t size) noexcept {
            const Address base = addressOf(this);
            std::uint64_t seen = state.load(std::memory_order_acquire);
            for (;;) {
                const Address object =
                    roundUp(base + ArenaState::positionOf(seen) + headerBytes, align);
                const std::size_t room = roundUp(size, minAlignment);
                const std::size_t end = object - base + room;
                if (end > UnitBytes) { // always true for a closed unit
                    return nullptr;
                }
                if (state.compare_exchange_weak(
                        seen, ArenaState::pack(end, ArenaState::liveOf(seen) + 1),
                        std::memory_order_acq_rel, std::memory_order_acquire)) {
                    ::new (pointerTo(object - headerBytes)) std::size_t(room);
                    return pointerTo(object);
                }
            }
        }

        /// Removes a live object; true if it was the last one of a closed unit.
        [[nodiscard]] bool release() noexcept {
            std::uint64_t seen = state.load(std::memory_order_relaxed);
            for (;;) {
                const std::uint64_t live = ArenaState::liveOf(seen) - 1;
                const bool isOpen = ArenaState::positionOf(seen) != closed;
                const std::size_t position =
                    live == 0 && isOpen ? unitHeader : ArenaState::positionOf(seen);
                if (state.compare_exchange_weak(seen, ArenaState::pack(position, live),
                                                std::memory_order_acq_rel,
                                                std::memory_order_relaxed)) {
                    return !isOpen && live == 0;
                }
            }
        }

        /// Closes the unit; true if it is empty.
        /// Pre: the unit is open, and one thread closes it.
        [[nodiscard]] bool close() noexcept {
            std::uint64_t seen = state.load(std::memory_order_relaxed);
            while (!state.compare_exchange_weak(
                seen, ArenaState::pack(closed, ArenaState::liveOf(seen)), std::memory_order_acq_rel,
                std::memory_order_relaxed)) {
            }
            return ArenaState::liveOf(seen) == 0;
        }

        void open() noexcept {
            state.store(ArenaState::pack(unitHeader, 0), std::memory_order_release);
        }
    };
    static_assert(sizeof(Unit) <= unitHeader);

    static Unit* unitAt(const void* object) noexcept {
        return static_cast<Unit*>(pointerTo(roundDown(addressOf(object) - 1, UnitBytes)));
    }

    /// Replaces the current unit `full`, unless another thread has done so. False if there is no
    /// memory.
    bool renew(Unit* full) noexcept {
        Unit* fresh = takeFree();
        if (fresh == nullptr) {
            void* const pages = platform::mapPagesAt(UnitBytes, UnitBytes, 0);
            if (pages == nullptr) {
                return current_.load(std::memory_order_relaxed) != full;
            }
            bytes_.fetch_add(UnitBytes, std::memory_order_relaxed);
            fresh = ::new (pages) Unit;
            fresh->older = all_.load(std::memory_order_relaxed);
            while (!all_.compare_exchange_weak(fresh->older, fresh, std::memory_order_release,
                                               std::memory_order_relaxed)) {
            }
        }
        fresh->open();
        Unit* retired = fresh;
        if (current_.compare_exchange_strong(full, fresh, std::memory_order_acq_rel)) {
            retired = full;
        }
        if (retired != nullptr && retired->close()) {
            putFree(retired);
        }
        return true;
    }

    void putFree(Unit* unit) noexcept {
        Address head = free_.load(std::memory_order_relaxed);
        do {
            unit->nextFree.store(static_cast<Unit*>(pointerTo(roundDown(head, UnitBytes))),
                                 std::memory_order_relaxed);
        } while (!free_.compare_exchange_weak(head, addressOf(unit) | countAfter(head),
                                              std::memory_order_release,
                                              std::memory_order_relaxed));
    }

    Unit* takeFree() noexcept {
        Address head = free_.load(std::memory_order_acquire);
        for (;;) {
            auto* const unit = static_cast<Unit*>(pointerTo(roundDown(head, UnitBytes)));
            if (unit == nullptr) {
                return nullptr;
            }
            const Address next = addressOf(unit->nextFree.load(std::memory_order_relaxed));
            if (free_.compare_exchange_weak(head, next | countAfter(head),
                                            std::memory_order_acquire, std::memory_order_acquire)) {
                return unit;
            }
        }
    }

    static constexpr Address countAfter(Address head) noexcept {
        return (head + 1) & (UnitBytes - 1);
    }

    /// An object with a mapping of its own; null if there is no memory.
    void* mapped(std::size_t align, std::size_t size) noexcept {
        const std::size_t step = align < UnitBytes ? UnitBytes : align;
        if (size > ~std::size_t{0} / 4 || align > ~std::size_t{0} / 4) {
            return nullptr;
        }
        const std::size_t lead = align < UnitBytes ? roundUp(unitHeader, align) : align;
        const std::size_t bytes = roundUp(lead + size, platform::pageSize());
        void* const pages = platform::mapPagesAt(bytes, step, 0);
        if (pages == nullptr) {
            return nullptr;
        }
        void* const object = forward(pages, lead);
        Unit* const unit = ::new (unitAt(object)) Unit;
        unit->mapping = pages;
        unit->mappingBytes = bytes;
        bytes_.fetch_add(bytes, std::memory_order_relaxed);
        return object;
    }

    std::atomic<Unit*> current_{nullptr}; ///< unit that serves small objects
    std::atomic<Unit*> all_{nullptr};     ///< latest unit
    std::atomic<Address> free_{0};        ///< address of a free unit | number of changes
    std::atomic<std::size_t> bytes_{0};   ///< mapped bytes
};

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of aligned units of `Unit` bytes, out of chunks of 4 to 32 MiB that it maps: what
// superblocks and large objects are made of. A run is taken where it fits best, what is freed
// merges with its neighbours, and units are never touched: who gets some finds them as the last
// one left them, or zero. What is larger than the next chunk would be has a mapping of its own,
// which can grow and move by its pages; so can any larger run, out of its chunk.
//
// Free units that somebody used are dirty: their memory is still there and serves the next one
// without a page fault. They go back to the system when they have been free for as long as `Rule`
// says (structure/extent/purge_policy.hpp), which is looked at whenever units come back, and by
// `purgeExpired`; a surplus at once (structure/extent/extent_purge.hpp). So what is free and yet
// takes memory was freed within the delay before it was last looked at, and is no more than half of
// what is in use, or than 8 MiB unless more was wanted again and again. Clean units are known to be
// zero, and cost nothing but addresses. (The system does not take back what is locked in memory.)
//
// It is for several threads: one lock, and no system call and no fill under it. A chunk's first
// unit holds what is known of it, in one page or two; chunks are in the map of the address space,
// so that `owns` may be asked by any thread at any time. Cost: a lock and a bit scan.
//
// Example: ExtentHeap<32 * KiB, FutexLock, PurgeAfter<250>, SystemExtents>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/heap_snapshot.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/structure/extent/extent_purge.hpp>
#include <heapwright/structure/extent/purge_policy.hpp>
#include <heapwright/structure/extent/system_extents.hpp>
#include <heapwright/structure/map/region_map.hpp>
#include <heapwright/structure/thread/fork_holds.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace heapwright {

template <std::size_t Unit, Lock Mutex, PurgePolicy Rule, ExtentSystem System>
class ExtentHeap : private ExtentPurge<Unit, Mutex, Rule, System> {
    using Memory = ExtentPurge<Unit, Mutex, Rule, System>;
    using Memory::chunkOf;
    using Memory::dirtyUnits;
    using Memory::lock_;
    using Memory::returning_;
    using Memory::space_;
    using Memory::unitsFor;
    using typename Memory::Bits;
    using typename Memory::Chunk;
    using typename Memory::Hold;
    using typename Memory::Run;
    using typename Memory::Space;

    static_assert(std::has_single_bit(Unit) && Unit >= 4 * KiB);

public:
    static constexpr std::size_t alignment = Unit;
    static constexpr std::size_t blockSize = Unit;
    static constexpr std::size_t unitBytes = Unit;
    static constexpr bool concurrent = true;
    static constexpr bool mapsRegions = true;
    static constexpr bool processLocal = true; ///< so is the map
    static constexpr bool ownsLockFree = true;
    static constexpr std::string_view caption = "runs of units out of chunks that it maps";
    using Below = Heaps<>;

    constexpr ExtentHeap() noexcept = default;
    ExtentHeap(const ExtentHeap&) = delete;
    ExtentHeap& operator=(const ExtentHeap&) = delete;
    ~ExtentHeap() { clear(); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return start(taken(size, 1, 0, nullptr));
    }

    /// What is known to be zero is not filled.
    [[nodiscard]] void* zalloc(std::size_t size) noexcept {
        Bits dirt;
        const Run run = taken(size, 1, 0, &dirt);
        if (run.chunk != nullptr) {
            fill(run, size, dirt);
        }
        return start(run);
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        return mallocAt(size, align, 0);
    }

    /// At `phase` modulo `align`; the phase is a multiple of the unit.
    [[nodiscard]] void* mallocAt(std::size_t size, std::size_t align, std::size_t phase) noexcept {
        return align <= Unit ? malloc(size)
                             : start(taken(size, align / Unit, phase / Unit, nullptr));
    }

    void free(void* run) noexcept {
        Chunk& chunk = chunkOf(run);
        if (chunk.single) {
            Memory::freeSingle(chunk);
        } else {
            const std::size_t first = chunk.indexOf(run);
            Memory::give({&chunk, first, chunk.lengthAt(first)});
        }
    }

    [[nodiscard]] std::size_t getSize(void* run) noexcept {
        const Chunk& chunk = chunkOf(run);
        return chunk.lengthAt(chunk.indexOf(run)) * Unit;
    }

    /// Into free units that follow, or into addresses that do; what it is made shorter by is free.
    [[nodiscard]] bool resize(void* run, std::size_t size) noexcept {
        if (size > Memory::largest) {
            return false;
        }
        Chunk& chunk = chunkOf(run);
        const std::size_t first = chunk.indexOf(run);
        const std::size_t have = chunk.lengthAt(first);
        const std::size_t length = size == 0 ? 1 : unitsFor(size);
        if (length == have) {
            return true;
        }
        if (chunk.single) {
            return Memory::resizeSingle(chunk, length);
        }
        if (length > have) {
            const Hold hold(lock_);
            return space_.grow(chunk, first, length);
        }
        chunk.notes[first] = static_cast<std::uint32_t>(length);
        Memory::give({&chunk, first + length, have - length});
        return true;
    }

    /// Into a chunk of its own, with addresses to grow on.
    [[nodiscard]] void* relocate(void* run, std::size_t size) noexcept {
        if (size > Memory::largest) {
            return nullptr;
        }
        Chunk& chunk = chunkOf(run);
        const std::size_t length = size == 0 ? 1 : unitsFor(size);
        const std::size_t first = chunk.indexOf(run);
        const Run old{&chunk, first, chunk.lengthAt(first)};
        if (length < old.length || old.bytes() < leastMoved) {
            return nullptr;
        }
        const std::size_t room = length / 4;
        if (!chunk.single && !madeSingle(old)) {
            return start(Memory::moveOut(old, length, room));
        }
        return start(Memory::moveSingle(chunk, length, room));
    }

    [[nodiscard]] bool owns(const void* object) const noexcept { return Memory::isMine(object); }

    /// Gives back what is due, however much it is. In how many milliseconds something will be;
    /// `purgeNever` if nothing waits for its time.
    std::uint32_t purgeExpired() noexcept {
        const std::uint32_t delay = Rule::returnDelay();
        if (delay == purgeNever) {
            return purgeNever;
        }
        const std::uint32_t now = System::milliseconds();
        Memory::giveBackAll(now, delay, 0, Memory::leastUnits);
        const Hold hold(lock_);
        if (space_.dirtyUnits() == 0) {
            return purgeNever;
        }
        const std::uint32_t age = space_.oldestAge(now);
        return age < delay ? delay - age : 0;
    }

    /// Gives back what is dirty until it is no more than `pad` bytes, and with none to keep the
    /// chunks without objects, too; true if there was any.
    bool trim(std::size_t pad) noexcept {
        const std::size_t keep = (pad + Unit - 1) / Unit;
        bool any = Memory::giveBackAll(System::milliseconds(), 0, keep, keep);
        while (pad == 0) {
            Chunk* const chunk = removedEmpty();
            if (chunk == nullptr) {
                break;
            }
            Memory::unmap(*chunk);
            any = true;
        }
        return any;
    }

    bool flush() noexcept { return trim(0); }

    /// Nobody else may be inside.
    void clear() noexcept {
        while (Chunk* const chunk = space_.removeAny()) {
            Memory::unmap(*chunk);
        }
    }

    /// What is free and yet takes memory.
    [[nodiscard]] std::size_t dirtyBytes() noexcept { return dirtyUnits() * Unit; }

    void measure(MemoryUsage& usage) noexcept {
        const Hold hold(lock_);
        usage.mapped += Memory::mappedBytes();
        usage.direct += space_.singleUnits() * Unit;
        usage.directCount += space_.singleCount();
        usage.held += space_.freeUnits() * Unit;
        usage.heldCount += space_.freeUnits();
    }

    void inspect(HeapSnapshot& snapshot) noexcept { Memory::tell(snapshot); }

    /// Runs `body(start, bytes, alone)` on each run in use, held still as for an snapshot;
    /// `alone` says that it has a mapping of its own.
    template <class Body>
    void forEachRun(Body body) noexcept {
        space_.forEachChunk([&body](Chunk& chunk) {
            chunk.forEachRun([&](std::size_t first, std::size_t length) {
                body(chunk.at(first), length * Unit, chunk.single);
            });
        });
    }

    /// A signal handler may fork that interrupted who holds one of the locks: that one is left to
    /// him, on both sides.
    void beforeFork() noexcept { holds_.hold(locks()); }
    void afterForkInParent() noexcept {
        holds_.letGo(locks(), [](auto& part) { part.lock.unlock(); });
    }
    void afterForkInChild() noexcept {
        holds_.letGo(locks(), [](auto& part) { part.lock.reset(); });
    }
    /// Never all that a fork has to hold: `beforeFork` takes what this thread has not got yet.
    [[nodiscard]] static bool heldByThisThread() noexcept { return false; }

private:
    /// Shorter runs are copied, which costs less than to move their pages.
    static constexpr std::size_t leastMoved = 128 * KiB;

    /// A lock as what is held still over a fork.
    struct Held {
        Mutex& lock;
        [[nodiscard]] bool heldByThisThread() const noexcept { return lock.heldByThisThread(); }
        void beforeFork() noexcept { lock.lock(); }
    };
    [[nodiscard]] auto locks() noexcept {
        return [this](std::size_t index, auto body) {
            Held held{index == 0 ? returning_ : lock_};
            body(held);
        };
    }

    [[nodiscard]] static void* start(const Run& run) noexcept {
        return run.chunk == nullptr ? nullptr : run.start();
    }
    [[nodiscard]] static void* start(Chunk* chunk) noexcept {
        return chunk == nullptr ? nullptr : chunk->at(chunk->first);
    }

    /// Units for a request; `align` and `phase` are in units.
    [[nodiscard]] Run taken(std::size_t size, std::size_t align, std::size_t phase,
                            Bits* dirt) noexcept {
        if (size > Memory::largest || align > Memory::largest / Unit) [[unlikely]] {
            return {};
        }
        const std::size_t count = size == 0 ? 1 : unitsFor(size);
        Run run = takenHeld(count, align, phase, dirt);
        if (run.chunk == nullptr) [[unlikely]] {
            run = takenFresh(count, align, phase, dirt);
        }
        return run;
    }

    [[nodiscard]] Run takenHeld(std::size_t count, std::size_t align, std::size_t phase,
                                Bits* dirt) noexcept {
        // A chunk is only so much aligned.
        return align > Memory::chunkAlignment / Unit ? Run{}
                                                     : Memory::take(count, align, phase, dirt);
    }

    [[gnu::noinline]] Run takenFresh(std::size_t count, std::size_t align, std::size_t phase,
                                     Bits* dirt) noexcept {
        const std::size_t usual = Memory::usualUnits();
        const std::size_t whole = count + align;
        if (whole < usual && align <= Memory::chunkAlignment / Unit) {
            while (Memory::addChunk(whole, usual)) {
                const Run run = takenHeld(count, align, phase, dirt);
                if (run.chunk != nullptr) {
                    return run; // another thread may have been faster
                }
            }
            return {};
        }
        Chunk* const chunk = Memory::addSingle(count, align, phase);
        return chunk == nullptr ? Run{} : Run{chunk, chunk->first, count};
    }

    [[nodiscard]] bool madeSingle(const Run& run) noexcept {
        const Hold hold(lock_);
        return space_.makeSingle(run);
    }
    [[nodiscard]] Chunk* removedEmpty() noexcept {
        const Hold hold(lock_);
        return space_.removeEmpty();
    }

    /// Fills what of a run is not known to be zero.
    static void fill(const Run& run, std::size_t size, const Bits& dirt) noexcept {
        if (run.chunk->single) {
            return;
        }
        const std::size_t last = run.first + unitsFor(size);
        std::size_t unit = dirt.next(run.first);
        while (unit < last) {
            const std::size_t end = std::min(dirt.nextGap(unit), last);
            const std::size_t from = (unit - run.first) * Unit;
            const std::size_t to = std::min((end - run.first) * Unit, size);
            std::memset(forward(run.start(), from), 0, to - from);
            unit = dirt.next(end);
        }
    }

    ForkHolds<2> holds_;
};

} // namespace heapwright

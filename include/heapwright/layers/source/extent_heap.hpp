// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocates runs of aligned units of `Unit` bytes from chunks of 4 to 32 MiB that it maps. It is
// the source of superblocks and large objects. A run is taken where it fits best, and a freed run
// merges with its neighbours (structure/extent/extent_space.hpp). The heap never touches a unit. A
// new run holds zero bytes or the bytes of its last user. A request larger than the next chunk gets
// a chunk of its own, which can grow and move by its pages. So can any larger run.
//
// A free unit that was used is dirty. Its memory serves the next request without a page fault. It
// returns to the system when it was free for the delay of `Rule`
// (structure/extent/purge_policy.hpp). The heap checks this when a run is freed and in
// `purgeExpired`. A surplus returns at once (structure/extent/extent_purge.hpp). A clean unit is
// zero and costs only addresses. The system does not take back memory that is locked.
//
// Invariant: dirty memory was freed within the delay before the last check. It is at most half of
// the memory in use, or 8 MiB. The latter limit grows with repeated need.
// Invariant: threads share one lock, and no system call and no fill is made under it.
// Invariant: each chunk is in the region map. So any thread may call `owns` at any time.
// Cost: a lock and a bit scan; of memory, one or two pages for each chunk.
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
#include <heapwright/sync/futex_lock.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace heapwright {

template <std::size_t Unit, Lock Mutex, PurgePolicy Rule, ExtentSystem System>
class ExtentHeap {
    using Extents = ExtentPurge<Unit, Mutex, Rule, System>;
    using Memory = typename Extents::Memory;
    using Bits = typename Extents::Bits;
    using Chunk = typename Extents::Chunk;
    using Hold = typename Extents::Hold;
    using Run = typename Extents::Run;

    static_assert(std::has_single_bit(Unit) && Unit >= 4 * KiB);

public:
    static constexpr std::size_t alignment = Unit;
    static constexpr std::size_t blockSize = Unit;
    static constexpr std::size_t unitBytes = Unit;
    static constexpr bool concurrent = true;
    static constexpr bool mapsRegions = true;
    static constexpr bool processLocal = true; ///< the map belongs to the process
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

    /// Fills only the units that may not be zero.
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

    /// A run at `phase` modulo `align`.
    /// Pre: the phase is a multiple of the unit.
    [[nodiscard]] void* mallocAt(std::size_t size, std::size_t align, std::size_t phase) noexcept {
        return align <= Unit ? malloc(size)
                             : start(taken(size, align / Unit, phase / Unit, nullptr));
    }

    void free(void* run) noexcept {
        Chunk& chunk = Memory::chunkOf(run);
        if (chunk.single) {
            extents_.freeSingle(chunk);
        } else {
            const std::size_t first = chunk.indexOf(run);
            extents_.release({&chunk, first, chunk.lengthAt(first)});
        }
    }

    [[nodiscard]] std::size_t getSize(void* run) noexcept {
        const Chunk& chunk = Memory::chunkOf(run);
        return chunk.lengthAt(chunk.indexOf(run)) * Unit;
    }

    /// Grows a run into the free units or addresses that follow, or frees its last units.
    [[nodiscard]] bool resize(void* run, std::size_t size) noexcept {
        if (size > Memory::largest) {
            return false;
        }
        Chunk& chunk = Memory::chunkOf(run);
        const std::size_t first = chunk.indexOf(run);
        const std::size_t have = chunk.lengthAt(first);
        const std::size_t length = size == 0 ? 1 : Memory::unitsFor(size);
        if (length == have) {
            return true;
        }
        if (chunk.single) {
            return memory().resizeSingle(chunk, length);
        }
        if (length > have) {
            const Hold hold(memory().lock);
            return memory().space.grow(chunk, first, length);
        }
        chunk.notes[first] = static_cast<std::uint32_t>(length);
        extents_.release({&chunk, first + length, have - length});
        return true;
    }

    /// Moves the pages of a run into a chunk of its own, with addresses for further growth.
    [[nodiscard]] void* relocate(void* run, std::size_t size) noexcept {
        if (size > Memory::largest) {
            return nullptr;
        }
        Chunk& chunk = Memory::chunkOf(run);
        const std::size_t length = size == 0 ? 1 : Memory::unitsFor(size);
        const std::size_t first = chunk.indexOf(run);
        const Run old{&chunk, first, chunk.lengthAt(first)};
        if (length < old.length || old.bytes() < leastMoved) {
            return nullptr;
        }
        const std::size_t room = length / 4;
        if (!chunk.single && !madeSingle(old)) {
            return start(memory().moveRun(old, length, room));
        }
        return start(memory().moveSingle(chunk, length, room));
    }

    [[nodiscard]] bool owns(const void* object) const noexcept { return memory().isMine(object); }

    /// Purges all that is due. Returns the time until more is due, in milliseconds; `purgeNever` if
    /// nothing is dirty.
    std::uint32_t purgeExpired() noexcept {
        const std::uint32_t delay = Rule::returnDelay();
        if (delay == purgeNever) {
            return purgeNever;
        }
        const std::uint32_t now = System::milliseconds();
        extents_.purgeAll(now, delay, 0, Memory::leastUnits);
        const Hold hold(memory().lock);
        if (memory().space.dirtyUnits() == 0) {
            return purgeNever;
        }
        const std::uint32_t age = memory().space.oldestAge(now);
        return age < delay ? delay - age : 0;
    }

    /// Purges until at most `pad` bytes are dirty. With `pad == 0` it also unmaps the chunks
    /// without objects. True if any memory was returned.
    bool trim(std::size_t pad) noexcept {
        const std::size_t keep = (pad + Unit - 1) / Unit;
        const bool purged = extents_.purgeAll(System::milliseconds(), 0, keep, keep);
        const bool unmapped = pad == 0 && unmapEmpty();
        return purged || unmapped;
    }

    bool flush() noexcept { return trim(0); }

    /// Pre: no other thread uses the heap.
    void clear() noexcept {
        while (Chunk* const chunk = memory().space.removeAny()) {
            memory().unmap(*chunk);
        }
    }

    /// The bytes of free units that still have memory.
    [[nodiscard]] std::size_t dirtyBytes() noexcept { return extents_.dirtyUnits() * Unit; }

    void measure(MemoryUsage& usage) noexcept {
        const Hold hold(memory().lock);
        usage.mapped += memory().mappedBytes();
        usage.direct += memory().space.singleUnits() * Unit;
        usage.directCount += memory().space.singleCount();
        usage.held += memory().space.freeUnits() * Unit;
        usage.heldCount += memory().space.freeUnits();
    }

    void inspect(HeapSnapshot& snapshot) noexcept { memory().inspect(snapshot); }

    /// Runs `body(start, bytes, alone)` on each run in use; `alone`: the run has a mapping of its
    /// own.
    /// Pre: `beforeFork` was called, or no other thread uses the heap.
    template <class Body>
    void forEachRun(Body body) noexcept {
        memory().space.forEachChunk([&body](Chunk& chunk) {
            chunk.forEachRun([&](std::size_t first, std::size_t length) {
                body(chunk.at(first), length * Unit, chunk.single);
            });
        });
    }

    void beforeFork() noexcept { extents_.beforeFork(); }
    void afterForkInParent() noexcept { extents_.afterForkInParent(); }
    void afterForkInChild() noexcept { extents_.afterForkInChild(); }
    /// Always false: the heap has several locks, and `beforeFork` takes those that this thread does
    /// not hold.
    [[nodiscard]] static bool heldByThisThread() noexcept { return false; }

private:
    /// Shorter runs are copied, since that costs less than moving their pages.
    static constexpr std::size_t leastMoved = 128 * KiB;

    [[nodiscard]] static void* start(const Run& run) noexcept {
        return run.chunk == nullptr ? nullptr : run.start();
    }
    [[nodiscard]] static void* start(Chunk* chunk) noexcept {
        return chunk == nullptr ? nullptr : chunk->at(chunk->first);
    }

    /// A run for a request; `align` and `phase` are in units.
    [[nodiscard]] Run taken(std::size_t size, std::size_t align, std::size_t phase,
                            Bits* dirt) noexcept {
        if (size > Memory::largest || align > Memory::largest / Unit) [[unlikely]] {
            return {};
        }
        const std::size_t count = size == 0 ? 1 : Memory::unitsFor(size);
        Run run = takenHeld(count, align, phase, dirt);
        if (run.chunk == nullptr) [[unlikely]] {
            run = takenFresh(count, align, phase, dirt);
        }
        return run;
    }

    [[nodiscard]] Run takenHeld(std::size_t count, std::size_t align, std::size_t phase,
                                Bits* dirt) noexcept {
        // The alignment of a chunk is the limit.
        return align > Memory::chunkAlignment / Unit ? Run{}
                                                     : extents_.allocate(count, align, phase, dirt);
    }

    /// From a new chunk. If the system refuses one, the chunks without objects are unmapped first.
    [[gnu::noinline]] Run takenFresh(std::size_t count, std::size_t align, std::size_t phase,
                                     Bits* dirt) noexcept {
        Run run = takenMapped(count, align, phase, dirt);
        if (run.chunk == nullptr && unmapEmpty()) {
            run = takenMapped(count, align, phase, dirt);
        }
        return run;
    }

    [[nodiscard]] Run takenMapped(std::size_t count, std::size_t align, std::size_t phase,
                                  Bits* dirt) noexcept {
        const std::size_t usual = memory().usualUnits();
        const std::size_t whole = count + align;
        if (whole < usual && align <= Memory::chunkAlignment / Unit) {
            while (memory().addChunk(whole, usual)) {
                const Run run = takenHeld(count, align, phase, dirt);
                if (run.chunk != nullptr) {
                    return run; // another thread has taken it
                }
            }
            return {};
        }
        Chunk* const chunk = memory().addSingle(count, align, phase);
        return chunk == nullptr ? Run{} : Run{chunk, chunk->first, count};
    }

    [[nodiscard]] bool madeSingle(const Run& run) noexcept {
        const Hold hold(memory().lock);
        return memory().space.makeSingle(run);
    }
    [[nodiscard]] Chunk* removedEmpty() noexcept {
        const Hold hold(memory().lock);
        return memory().space.removeEmpty();
    }
    /// Unmaps the chunks without objects; true if there was one.
    bool unmapEmpty() noexcept {
        bool any = false;
        while (Chunk* const chunk = removedEmpty()) {
            memory().unmap(*chunk);
            any = true;
        }
        return any;
    }

    /// Fills the dirty units of a run with zero bytes.
    static void fill(const Run& run, std::size_t size, const Bits& dirt) noexcept {
        if (run.chunk->single) {
            return;
        }
        const std::size_t last = run.first + Memory::unitsFor(size);
        std::size_t unit = dirt.next(run.first);
        while (unit < last) {
            const std::size_t end = std::min(dirt.nextGap(unit), last);
            const std::size_t from = (unit - run.first) * Unit;
            const std::size_t to = std::min((end - run.first) * Unit, size);
            std::memset(forward(run.start(), from), 0, to - from);
            unit = dirt.next(end);
        }
    }

    [[nodiscard]] Memory& memory() noexcept { return extents_.memory; }
    [[nodiscard]] const Memory& memory() const noexcept { return extents_.memory; }

    Extents extents_;
};

} // namespace heapwright

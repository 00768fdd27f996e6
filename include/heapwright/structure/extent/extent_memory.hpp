// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of extents between the system and a heap of extents (layers/source/extent_heap.hpp).
// `ExtentMemory` maps, unmaps, grows and moves chunks. `ExtentPurge` contains one and decides which
// free memory returns to the system, and when.
//
// A chunk starts at a multiple of 2 MiB. So huge pages fit, and the kernel can move whole page
// tables. The region map contains each chunk, so that any address in it leads to it.
//
// Units that are dirty for the policy's delay are due. Dirty units above a limit are a surplus,
// which is purged at once. So a program that then makes no more requests keeps little memory,
// although nothing checks the time. The limit is half of the memory in use, and 8 MiB at least. The
// minimum is doubled when clean units are needed after a surplus was purged, unless a later release
// has found that the delay has passed. So a program that allocates and frees much memory repeatedly
// purges too much only a few times.
//
// Invariant: no system call is made under `lock`.
// Invariant: units that are being purged count as in use.
// Invariant: one thread purges at a time, under `purging`. A fork takes that lock, so no purge is
// under way when the process forks. A thread that frees memory purges a few pieces. If another
// thread is purging, it leaves its pieces to that thread (`owed_`).
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/heap_snapshot.hpp>
#include <heapwright/structure/extent/extent_space.hpp>
#include <heapwright/structure/extent/purge_policy.hpp>
#include <heapwright/structure/extent/system_extents.hpp>
#include <heapwright/structure/map/region_map.hpp>
#include <heapwright/sync/lock.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace heapwright {

/// The chunks of a heap. A function that needs the lock has a comment that states it.
template <std::size_t Unit, Lock Mutex, PurgePolicy Rule, ExtentSystem System>
class ExtentMemory {
public:
    using Space = ExtentSpace<Unit>;
    using Chunk = typename Space::Chunk;
    using Run = typename Space::Run;
    using Hold = Guard<Mutex>;

    static constexpr std::size_t chunkAlignment = 2 * MiB;
    static constexpr std::size_t leastUnits = 4 * MiB / Unit; ///< of a chunk for many objects
    static constexpr std::size_t largest = PTRDIFF_MAX / 2;

    static_assert(Chunk::most >= leastUnits && sizeof(Chunk) <= Unit);
    static_assert(chunkAlignment % RegionMap::granule == 0 && RegionMap::granule % Unit == 0);

    constexpr ExtentMemory() noexcept = default;
    ExtentMemory(const ExtentMemory&) = delete;
    ExtentMemory& operator=(const ExtentMemory&) = delete;
    ~ExtentMemory() = default;

    /// The chunk that contains an address.
    /// Pre: one does.
    [[nodiscard]] static Chunk& chunkOf(const void* address) noexcept {
        return *static_cast<Chunk*>(RegionMap::startOf(address));
    }
    [[nodiscard]] static std::size_t unitsFor(std::size_t bytes) noexcept {
        return (bytes + Unit - 1) / Unit;
    }

    /// Maps a chunk that is in no space; null if there is no memory.
    /// Post: all bytes after the chunk's members are zero.
    [[nodiscard]] Chunk* mapChunk(std::size_t units, std::size_t alignment) noexcept {
        const std::size_t bytes = units * Unit;
        const Address lowest = lowest_.load(std::memory_order_relaxed);
        const Address wish = lowest > bytes ? roundDown(lowest - bytes, alignment) : 0;
        void* const pages = System::map(wish, bytes, alignment);
        if (pages == nullptr) {
            return nullptr;
        }
        if (!RegionMap::enterTogether(pages, bytes, this)) {
            System::unmap(pages, bytes);
            return nullptr;
        }
        lowest_.store(addressOf(pages), std::memory_order_relaxed);
        count(counts.maps, counts.mappedBytes, bytes);
        auto* const chunk = ::new (pages) Chunk;
        chunk->units = units;
        return chunk;
    }

    /// Unmaps a chunk that is in no space.
    void unmap(Chunk& chunk) noexcept {
        const std::size_t bytes = chunk.units * Unit;
        RegionMap::leave(&chunk, bytes);
        if (System::unmap(&chunk, bytes)) {
            count(counts.unmaps, counts.unmappedBytes, bytes);
        }
    }

    /// Adds a chunk for many objects with room for a run of `count` units, of `usual` units if
    /// possible. False if there is no memory.
    [[nodiscard]] bool addChunk(std::size_t count, std::size_t usual) noexcept {
        constexpr std::size_t granule = RegionMap::granule / Unit;
        const std::size_t least = roundUp(count + 1, granule);
        std::size_t units = std::max(usual, least);
        Chunk* chunk = mapChunk(units, chunkAlignment);
        while (chunk == nullptr && units > least) {
            units = std::max(roundUp(units / 4, granule), least);
            chunk = mapChunk(units, chunkAlignment);
        }
        if (chunk == nullptr) {
            return false;
        }
        const Hold hold(lock);
        chunk->denseSample = std::exchange(latest_, chunk);
        space.add(*chunk, 1, 0);
        return true;
    }

    /// Requests huge pages for blocks that a run has opened, if memory is densely used. The first
    /// block of each chunk keeps ordinary pages and is the sample: at least seven eighths of an
    /// earlier one must be resident.
    /// Pre: the run is in use, and the caller does not hold `lock`.
    [[gnu::noinline]] void requestHugePages(const Run& run, std::uint32_t opened) noexcept {
        constexpr std::size_t bytes = Chunk::blockUnits * Unit;
        Chunk& chunk = *run.chunk;
        void* const sample = (opened & 2U) != 0 ? chunk.denseSample : &chunk;
        if (sample == nullptr || System::residentBytes(sample, bytes) < bytes / 8 * 7) {
            return;
        }
        {
            const Hold hold(lock);
            const std::size_t inUse =
                mappedBytes() / Unit - space.freeUnits() - space.singleUnits();
            if (!space.openHuge(chunk, opened, inUse)) {
                return;
            }
        }
        forEachBlock(chunk, opened, [](void* block) { System::wishForHugePages(block, bytes); });
    }

    /// Runs `body(start)` on each of some blocks of a chunk.
    template <class Body>
    static void forEachBlock(Chunk& chunk, std::uint32_t blocks, Body body) noexcept {
        for (; blocks != 0; blocks &= blocks - 1) {
            body(chunk.at(static_cast<std::size_t>(__builtin_ctz(blocks)) * Chunk::blockUnits));
        }
    }

    /// The size of the next chunk for many objects, in units. It grows with the mapped memory.
    [[nodiscard]] std::size_t usualUnits() const noexcept {
        const std::size_t quarter = mappedBytes() / 4 / Unit;
        return quarter < 2 * leastUnits
                   ? leastUnits
                   : std::min(std::size_t{1} << floorLog2(quarter), Chunk::most);
    }

    /// Adds a chunk for a single object of `count` units, the first of them `phase` modulo `align`
    /// (in units); null if there is no memory.
    [[nodiscard]] Chunk* addSingle(std::size_t count, std::size_t align,
                                   std::size_t phase) noexcept {
        constexpr std::size_t granule = RegionMap::granule / Unit;
        const std::size_t lead = phase == 0 ? align : phase;
        Chunk* const chunk =
            mapChunk(roundUp(lead + count, granule), std::max(chunkAlignment, align * Unit));
        if (chunk != nullptr) {
            chunk->first = lead;
            chunk->length = count;
            chunk->touchedEnd = lead + count;
            const Hold hold(lock);
            space.addSingle(*chunk);
        }
        return chunk;
    }

    /// Resizes the single object of a chunk in place; false without effect if that is not possible.
    [[nodiscard]] bool resizeSingle(Chunk& chunk, std::size_t length) noexcept {
        constexpr std::size_t granule = RegionMap::granule / Unit;
        const std::size_t end = chunk.first + length;
        const std::size_t units = roundUp(end, granule);
        if (units > chunk.units && !extend(chunk, units)) {
            return false;
        }
        if (units < chunk.units && length < chunk.length) {
            shrink(chunk, units);
        }
        if (length < chunk.length && end < chunk.touchedEnd &&
            System::discard(chunk.at(end), (chunk.touchedEnd - end) * Unit)) {
            chunk.touchedEnd = end;
        }
        chunk.touchedEnd = std::max(chunk.touchedEnd, end);
        chunk.length = length;
        return true;
    }

    /// Moves a chunk with its single object to addresses with room for a length; null without
    /// effect if that is not possible.
    [[nodiscard]] Chunk* moveSingle(Chunk& chunk, std::size_t length, std::size_t room) noexcept {
        const std::size_t bytes = chunk.units * Unit;
        Chunk* const target = mapChunkWithRoom(chunk.first + length, room);
        if (target == nullptr || target->units < chunk.units) {
            return unmapUnused(target);
        }
        const std::size_t units = target->units;
        {
            const Hold hold(lock);
            space.removeSingle(chunk);
        }
        RegionMap::leave(&chunk, bytes);
        if (!System::moveOnto(&chunk, bytes, target)) {
            // Does not fail: the map has a leaf for these granules.
            [[maybe_unused]] const bool entered = RegionMap::enterTogether(&chunk, bytes, this);
            const Hold hold(lock);
            space.addSingle(chunk);
            return unmapUnused(target);
        }
        counts.moves.fetchAdd(1, std::memory_order_relaxed);
        count(counts.unmaps, counts.unmappedBytes, bytes);
        target->units = units;
        target->length = length;
        target->touchedEnd = std::max(target->touchedEnd, target->first + length);
        const Hold hold(lock);
        space.addSingle(*target);
        return target;
    }

    /// Moves the pages of a run into a new chunk for a single object; null without effect if that
    /// is not possible.
    /// Post: the run is free.
    [[nodiscard]] Chunk* moveRun(const Run& run, std::size_t length, std::size_t room) noexcept {
        Chunk* const target = mapChunkWithRoom(1 + length, room);
        if (target == nullptr) {
            return nullptr;
        }
        if (!System::moveOutOnto(run.start(), run.bytes(), target->at(1))) {
            return unmapUnused(target);
        }
        counts.moves.fetchAdd(1, std::memory_order_relaxed);
        target->first = 1;
        target->length = length;
        target->touchedEnd = 1 + length;
        const Hold hold(lock);
        space.releaseClean(run); // zero bytes stay behind
        space.addSingle(*target);
        return target;
    }

    /// Adds figures of chunks and of system calls.
    /// Pre: the caller holds `lock`.
    void inspect(HeapSnapshot& snapshot) noexcept {
        const auto now = [](const SharedWord<std::size_t>& word) {
            return word.load(std::memory_order_relaxed);
        };
        HeapSnapshot::System& system = snapshot.system;
        system.maps += now(counts.maps);
        system.mappedBytes += now(counts.mappedBytes);
        system.unmaps += now(counts.unmaps);
        system.unmappedBytes += now(counts.unmappedBytes);
        system.purges += now(counts.purges);
        system.purgedBytes += now(counts.purgedBytes);
        system.moves += now(counts.moves);
        HeapSnapshot::Source& source = snapshot.source;
        space.forEachChunk([&source](const Chunk& chunk) {
            ++source.chunks;
            source.chunkBytes += chunk.units * Unit;
            const std::size_t used =
                chunk.single ? chunk.length : chunk.units - 1 - chunk.freeUnits;
            source.usedBytes += used * Unit;
        });
        source.dirtyBytes += space.dirtyUnits() * Unit;
        source.cleanBytes += (space.freeUnits() - space.dirtyUnits()) * Unit;
        if constexpr (CountingLock<Mutex>) {
            snapshot.sourceLock.add(lock.takes(), lock.waits());
        }
    }

    [[nodiscard]] std::size_t mappedBytes() const noexcept {
        const std::size_t back = counts.unmappedBytes.load(std::memory_order_relaxed);
        return counts.mappedBytes.load(std::memory_order_relaxed) - back;
    }
    [[nodiscard]] bool isMine(const void* address) const noexcept {
        return RegionMap::ownerOf(address) == this;
    }

    /// Numbers of system calls and sums of their bytes, since the start.
    struct Counts {
        SharedWord<std::size_t> maps{0};
        SharedWord<std::size_t> mappedBytes{0};
        SharedWord<std::size_t> unmaps{0};
        SharedWord<std::size_t> unmappedBytes{0};
        SharedWord<std::size_t> purges{0};
        SharedWord<std::size_t> purgedBytes{0};
        SharedWord<std::size_t> moves{0};
    };
    static void count(SharedWord<std::size_t>& calls, SharedWord<std::size_t>& sum,
                      std::size_t bytes) noexcept {
        calls.fetchAdd(1, std::memory_order_relaxed);
        sum.fetchAdd(bytes, std::memory_order_relaxed);
    }

    Space space; ///< protected by `lock`
    Mutex lock;
    Counts counts;

private:
    /// Maps a chunk of `units + room` units, or else of `units`; null if there is no memory.
    [[nodiscard]] Chunk* mapChunkWithRoom(std::size_t units, std::size_t room) noexcept {
        constexpr std::size_t granule = RegionMap::granule / Unit;
        Chunk* const chunk = mapChunk(roundUp(units + room, granule), chunkAlignment);
        return chunk != nullptr || room == 0 ? chunk
                                             : mapChunk(roundUp(units, granule), chunkAlignment);
    }

    /// Unmaps a chunk that is not needed after all, unless it is null; returns null.
    Chunk* unmapUnused(Chunk* chunk) noexcept {
        if (chunk != nullptr) {
            unmap(*chunk);
        }
        return nullptr;
    }

    /// Maps the addresses after a chunk for a single object; false if they are not free.
    [[nodiscard]] bool extend(Chunk& chunk, std::size_t units) noexcept {
        const std::size_t have = chunk.units * Unit;
        if (!System::extend(&chunk, have, units * Unit)) {
            return false;
        }
        if (!RegionMap::enterFurther(&chunk, have, units * Unit, this)) {
            System::unmap(forward(&chunk, have), units * Unit - have);
            return false;
        }
        setUnits(chunk, units);
        return true;
    }

    /// Unmaps the end of a chunk for a single object.
    void shrink(Chunk& chunk, std::size_t units) noexcept {
        const std::size_t bytes = (chunk.units - units) * Unit;
        RegionMap::leave(chunk.at(units), bytes);
        if (!System::unmap(chunk.at(units), bytes)) {
            [[maybe_unused]] const bool entered =
                RegionMap::enterFurther(&chunk, units * Unit, chunk.units * Unit, this);
            return;
        }
        chunk.touchedEnd = std::min(chunk.touchedEnd, units);
        setUnits(chunk, units);
    }

    /// Updates the space after a chunk's size has changed.
    void setUnits(Chunk& chunk, std::size_t units) noexcept {
        if (units > chunk.units) {
            count(counts.moves, counts.mappedBytes, (units - chunk.units) * Unit);
        } else {
            count(counts.unmaps, counts.unmappedBytes, (chunk.units - units) * Unit);
        }
        const Hold hold(lock);
        space.removeSingle(chunk);
        chunk.units = units;
        space.addSingle(chunk);
    }

    Chunk* latest_ = nullptr; ///< the latest chunk for many objects; it may have been unmapped
    SharedWord<Address> lowest_{0}; ///< address of the latest chunk; the next is mapped below
};

/// An ExtentMemory with a purge of free units.
template <std::size_t Unit, Lock Mutex, PurgePolicy Rule, ExtentSystem System>
class ExtentPurge {
public:
    using Memory = ExtentMemory<Unit, Mutex, Rule, System>;
    using Chunk = typename Memory::Chunk;
    using Hold = typename Memory::Hold;
    using Run = typename Memory::Run;
    using Space = typename Memory::Space;
    using Bits = typename Space::Bits;

    constexpr ExtentPurge() noexcept = default;
    ExtentPurge(const ExtentPurge&) = delete;
    ExtentPurge& operator=(const ExtentPurge&) = delete;
    ~ExtentPurge() = default;

    /// Allocates a run as ExtentSpace does. If clean units are needed, or none are free, after
    /// a surplus was purged (`purgedSurplus_`), then the limit of the surplus is doubled.
    [[nodiscard]] Run allocate(std::size_t count, std::size_t align, std::size_t phase,
                               Bits* dirt) noexcept {
        std::uint32_t opened = 0;
        Run run;
        {
            const Hold hold(memory.lock);
            const std::size_t before = memory.space.dirtyUnits();
            run = memory.space.allocate(count, align, phase, dirt);
            const std::size_t reused = before - memory.space.dirtyUnits();
            if (purgedSurplus_ && reused < count) [[unlikely]] {
                alwaysKept_ = std::min(2 * alwaysKept_, mostKept);
                purgedSurplus_ = false;
            }
            if (reused == 0 && run.chunk != nullptr) {
                opened = run.chunk->blocksOpenedBy(run.first, count);
            }
        }
        if (opened != 0 && Rule::hugePages()) [[unlikely]] {
            memory.requestHugePages(run, opened);
        }
        return run;
    }

    /// Frees a run. A few pieces are purged if any are due.
    void release(const Run& run) noexcept {
        const std::uint32_t now = System::milliseconds();
        memory.lock.lock();
        const bool first = memory.space.dirtyUnits() == 0;
        memory.space.release(run, now);
        unlockAndPurge(now, first);
    }

    /// Frees the single object of a chunk. The chunk then serves many objects, or it is unmapped if
    /// it is too large for that or the policy purges at once.
    void freeSingle(Chunk& chunk) noexcept {
        const bool stays = chunk.units <= Chunk::most && Rule::returnDelay() != purgeAtOnce;
        const std::uint32_t now = System::milliseconds();
        memory.lock.lock();
        const bool first = memory.space.dirtyUnits() == 0;
        memory.space.removeSingle(chunk);
        if (stays) {
            memory.space.add(chunk, chunk.touchedEnd, now);
        }
        unlockAndPurge(now, stays && first);
        if (!stays) {
            memory.unmap(chunk);
        }
    }

    /// Purges what is dirty for at least `delay` ms, until at most `keep` units are dirty. True if
    /// anything was purged. The only chunk without objects is kept if it has at most `spare` units.
    bool purgeAll(std::uint32_t now, std::uint32_t delay, std::size_t keep,
                  std::size_t spare) noexcept {
        bool any = false;
        {
            const Hold holdPurging(purging);
            while (dirtyUnits() > keep && purgeOne(now, delay, spare)) {
                any = true;
            }
        }
        purgeOwed();
        return any;
    }

    [[nodiscard]] std::size_t dirtyUnits() noexcept {
        const Hold hold(memory.lock);
        return memory.space.dirtyUnits();
    }

    Memory memory;
    Mutex purging; ///< held by the thread that purges

private:
    static constexpr std::size_t leastKept = 8 * MiB / Unit;
    static constexpr std::size_t mostKept = 1 * GiB / Unit;

    /// A purge that is due: of units dirty for `delay` ms, until at most `keep` units are dirty.
    struct Surplus {
        bool any = false;
        std::uint32_t delay = 0;
        std::size_t keep = 0;
    };

    /// Pre: the caller holds the memory's lock.
    [[nodiscard]] Surplus surplus(std::uint32_t now, std::uint32_t delay) noexcept {
        const std::size_t dirty = memory.space.dirtyUnits();
        if (dirty == 0 || delay == purgeNever) {
            return {};
        }
        if (dirty > alwaysKept_) [[unlikely]] {
            const std::size_t used = memory.mappedBytes() / Unit - memory.space.freeUnits();
            const std::size_t most = std::max(alwaysKept_, used / 2);
            if (dirty > most) {
                purgedSurplus_ = true;
                lastSurplus_ = now;
                return {true, 0, most};
            }
        }
        purgedSurplus_ = purgedSurplus_ && now - lastSurplus_ < delay;
        return {memory.space.oldestAge(now) >= delay, delay, 0};
    }

    /// Releases the memory's lock, then purges a few pieces if any are due. `first`: no unit was
    /// dirty before.
    void unlockAndPurge(std::uint32_t now, bool first) noexcept {
        const bool any = surplus(now, Rule::returnDelay()).any;
        [[maybe_unused]] const std::size_t waiting = memory.space.dirtyUnits() * Unit;
        memory.lock.unlock();
        if (any) [[unlikely]] {
            purgeSome();
        }
        if constexpr (NotifiedPurgePolicy<Rule>) {
            Rule::memoryWaits(first, waiting); // a background thread purges
        }
    }

    [[gnu::noinline]] void purgeSome() noexcept {
        constexpr unsigned pieces = 4;
        owed_.fetch_add(pieces, std::memory_order_acq_rel);
        purgeOwed();
    }

    /// Whether pieces are owed. Both sides modify `owed_` atomically. Either this thread sees the
    /// debt of a thread that found `purging` taken, or that thread's later `tryLock` finds it free.
    [[nodiscard]] bool anyOwed() noexcept {
        return owed_.fetch_or(0, std::memory_order_acq_rel) != 0;
    }

    /// Purges the pieces that all threads owe. If another thread is purging, it does so: it checks
    /// the debt again after its unlock, since no further request may follow.
    void purgeOwed() noexcept {
        while (anyOwed() && purging.tryLock()) {
            const unsigned pieces = owed_.exchange(0, std::memory_order_relaxed);
            const std::uint32_t now = System::milliseconds();
            const Surplus found = surplusNow(now);
            for (unsigned piece = 0; found.any && piece < pieces; ++piece) {
                if (dirtyUnits() <= found.keep || !purgeOne(now, found.delay, Memory::leastUnits)) {
                    break;
                }
            }
            purging.unlock();
        }
    }

    [[nodiscard]] Surplus surplusNow(std::uint32_t now) noexcept {
        const Hold hold(memory.lock);
        return surplus(now, Rule::returnDelay());
    }

    /// Purges one run or chunk; false if none is due or the system refuses.
    bool purgeOne(std::uint32_t now, std::uint32_t delay, std::size_t spare) noexcept {
        const typename Space::Due due = nextDue(now, delay, spare);
        if (due.chunk == nullptr) {
            return due.run.length != 0 && discardRun(due, now);
        }
        memory.unmap(*due.chunk);
        return true;
    }

    [[nodiscard]] typename Space::Due nextDue(std::uint32_t now, std::uint32_t delay,
                                              std::size_t spare) noexcept {
        const Hold hold(memory.lock);
        return memory.space.nextDue(now, delay, spare);
    }

    /// Discards the pages of a run; false if the system refuses, as for locked memory.
    /// Post: the run is free, and dirty since `now` on failure.
    bool discardRun(const typename Space::Due& due, std::uint32_t now) noexcept {
        const Run& run = due.run;
        // Otherwise the system may fill the block again by itself.
        Memory::forEachBlock(*run.chunk, due.hugeBlocks, [](void* block) {
            System::declineHugePages(block, Chunk::blockUnits * Unit);
        });
        const bool done = System::discard(run.start(), run.bytes());
        const Hold hold(memory.lock);
        if (done) {
            Memory::count(memory.counts.purges, memory.counts.purgedBytes, run.bytes());
            memory.space.releaseClean(run);
        } else {
            memory.space.release(run, now);
        }
        return done;
    }

    std::atomic<unsigned> owed_{0};      ///< pieces that threads asked to purge
    std::size_t alwaysKept_ = leastKept; ///< dirty units that are never a surplus
    std::uint32_t lastSurplus_ = 0;      ///< time of the last purge of a surplus, in ms
    bool purgedSurplus_ = false;         ///< no release has found that the delay passed
};

} // namespace heapwright

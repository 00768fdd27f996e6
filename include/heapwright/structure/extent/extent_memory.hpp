// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of extents between the system and a heap of extents (layers/source/extent_heap.hpp): maps,
// unmaps, grows and moves chunks.
//
// A chunk starts at a multiple of 2 MiB. So huge pages fit, and the kernel can move whole page
// tables. The region map contains each chunk, so that any address in it leads to it.
//
// Invariant: no system call is made under `lock`.
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

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Chunks of units from the system and back (layers/source/extent_heap.hpp says what for): what goes
// on between a space of extents, which is changed under a lock, and system calls, which are not.
//
// A chunk stands at a multiple of 2 MiB, so that huge pages fit and page tables move whole, and is
// entered in the map of the address space as one, so that it is found from any address in it.
// Chunks that serve a single object grow, shrink and move with it.
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

namespace heapwright {

template <std::size_t Unit, Lock Mutex, PurgePolicy Rule, ExtentSystem System>
class ExtentMemory {
protected:
    using Space = ExtentSpace<Unit>;
    using Chunk = typename Space::Chunk;
    using Run = typename Space::Run;
    using Hold = Guard<Mutex>;

    static constexpr std::size_t chunkAlignment = 2 * MiB;
    static constexpr std::size_t leastUnits = 4 * MiB / Unit; ///< of a chunk for many objects
    static constexpr std::size_t largest = PTRDIFF_MAX / 2;
    /// A huge page of which little is used is a loss that only larger heaps can bear.
    static constexpr std::size_t smallPagesFirst = 8 * MiB;

    static_assert(Chunk::most >= leastUnits && sizeof(Chunk) <= Unit);
    static_assert(chunkAlignment % RegionMap::granule == 0 && RegionMap::granule % Unit == 0);

    constexpr ExtentMemory() noexcept = default;
    ExtentMemory(const ExtentMemory&) = delete;
    ExtentMemory& operator=(const ExtentMemory&) = delete;
    ~ExtentMemory() = default;

    /// The chunk of an address in one.
    [[nodiscard]] static Chunk& chunkOf(const void* address) noexcept {
        return *static_cast<Chunk*>(RegionMap::startOf(address));
    }
    [[nodiscard]] static std::size_t unitsFor(std::size_t bytes) noexcept {
        return (bytes + Unit - 1) / Unit;
    }

    // --- without a lock ---

    /// A new chunk of so many units, all zero bytes and nobody's; null if there is none.
    [[nodiscard]] Chunk* mapped(std::size_t units, std::size_t alignment) noexcept {
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
        count(counts_.maps, counts_.mappedBytes, bytes);
        auto* const chunk = ::new (pages) Chunk;
        chunk->units = units;
        return chunk;
    }

    void unmap(Chunk& chunk) noexcept {
        const std::size_t bytes = chunk.units * Unit;
        RegionMap::leave(&chunk, bytes);
        if (System::unmap(&chunk, bytes)) {
            count(counts_.unmaps, counts_.unmappedBytes, bytes);
        }
    }

    /// A chunk more for many objects, in which so many units fit in a row; larger ones the more
    /// there is already. False if there is none.
    [[nodiscard]] bool addChunk(std::size_t count, std::size_t usual) noexcept {
        constexpr std::size_t granule = RegionMap::granule / Unit;
        const std::size_t least = roundUp(count + 1, granule);
        std::size_t units = std::max(usual, least);
        Chunk* chunk = mapped(units, chunkAlignment);
        while (chunk == nullptr && units > least) {
            units = std::max(roundUp(units / 4, granule), least);
            chunk = mapped(units, chunkAlignment);
        }
        if (chunk == nullptr) {
            return false;
        }
        if (Rule::hugePages() && mappedBytes() > smallPagesFirst) {
            System::wishForHugePages(chunk, chunk->units * Unit);
        }
        const Hold hold(lock_);
        space_.add(*chunk, 1, 0);
        return true;
    }

    /// How many units the next chunk for many objects has.
    [[nodiscard]] std::size_t usualUnits() const noexcept {
        const std::size_t quarter = mappedBytes() / 4 / Unit;
        return quarter < 2 * leastUnits
                   ? leastUnits
                   : std::min(std::size_t{1} << floorLog2(quarter), Chunk::most);
    }

    /// A chunk for a single object of so many units, the first `phase` modulo `align`, in units.
    [[nodiscard]] Chunk* addSingle(std::size_t count, std::size_t align,
                                   std::size_t phase) noexcept {
        constexpr std::size_t granule = RegionMap::granule / Unit;
        const std::size_t lead = phase == 0 ? align : phase;
        Chunk* const chunk =
            mapped(roundUp(lead + count, granule), std::max(chunkAlignment, align * Unit));
        if (chunk != nullptr) {
            chunk->first = lead;
            chunk->length = count;
            chunk->stained = lead + count;
            const Hold hold(lock_);
            space_.addSingle(*chunk);
        }
        return chunk;
    }

    /// The single object of a chunk gets another length where it stands; false if it cannot.
    [[nodiscard]] bool resizeSingle(Chunk& chunk, std::size_t length) noexcept {
        constexpr std::size_t granule = RegionMap::granule / Unit;
        const std::size_t end = chunk.first + length;
        const std::size_t units = roundUp(end, granule);
        if (units > chunk.units && !extend(chunk, units)) {
            return false;
        }
        if (units < chunk.units && length < chunk.length) {
            cut(chunk, units);
        }
        if (length < chunk.length && end < chunk.stained &&
            System::discard(chunk.at(end), (chunk.stained - end) * Unit)) {
            chunk.stained = end;
        }
        chunk.stained = std::max(chunk.stained, end);
        chunk.length = length;
        return true;
    }

    /// Moves a chunk with its single object to where there is room for more; null if there is none,
    /// and nothing has changed.
    [[nodiscard]] Chunk* moveSingle(Chunk& chunk, std::size_t length, std::size_t room) noexcept {
        const std::size_t bytes = chunk.units * Unit;
        Chunk* const target = mappedWithRoom(chunk.first + length, room);
        if (target == nullptr || target->units < chunk.units) {
            return discarded(target);
        }
        const std::size_t units = target->units;
        {
            const Hold hold(lock_);
            space_.removeSingle(chunk);
        }
        RegionMap::leave(&chunk, bytes);
        if (!System::moveOnto(&chunk, bytes, target)) {
            // There was a leaf for these granules, so there is one.
            [[maybe_unused]] const bool entered = RegionMap::enterTogether(&chunk, bytes, this);
            const Hold hold(lock_);
            space_.addSingle(chunk);
            return discarded(target);
        }
        counts_.moves.fetchAdd(1, std::memory_order_relaxed);
        count(counts_.unmaps, counts_.unmappedBytes, bytes);
        target->units = units;
        target->length = length;
        target->stained = std::max(target->stained, target->first + length);
        const Hold hold(lock_);
        space_.addSingle(*target);
        return target;
    }

    /// Moves the pages of a run into a chunk for it alone; null if that cannot be, and nothing has
    /// changed. The run is no more.
    [[nodiscard]] Chunk* moveOut(const Run& run, std::size_t length, std::size_t room) noexcept {
        Chunk* const target = mappedWithRoom(1 + length, room);
        if (target == nullptr) {
            return nullptr;
        }
        if (!System::moveOutOnto(run.start(), run.bytes(), target->at(1))) {
            return discarded(target);
        }
        counts_.moves.fetchAdd(1, std::memory_order_relaxed);
        target->first = 1;
        target->length = length;
        target->stained = 1 + length;
        const Hold hold(lock_);
        space_.giveClean(run); // there are zero bytes now
        space_.addSingle(*target);
        return target;
    }

    /// What is known of chunks and of calls of the system.
    void tell(HeapSnapshot& snapshot) noexcept {
        const auto now = [](const SharedWord<std::size_t>& word) {
            return word.load(std::memory_order_relaxed);
        };
        HeapSnapshot::System& system = snapshot.system;
        system.maps += now(counts_.maps);
        system.mappedBytes += now(counts_.mappedBytes);
        system.unmaps += now(counts_.unmaps);
        system.unmappedBytes += now(counts_.unmappedBytes);
        system.purges += now(counts_.purges);
        system.purgedBytes += now(counts_.purgedBytes);
        system.moves += now(counts_.moves);
        HeapSnapshot::Source& source = snapshot.source;
        space_.forEachChunk([&source](const Chunk& chunk) {
            ++source.chunks;
            source.chunkBytes += chunk.units * Unit;
            const std::size_t used =
                chunk.single ? chunk.length : chunk.units - 1 - chunk.freeUnits;
            source.usedBytes += used * Unit;
        });
        source.dirtyBytes += space_.dirtyUnits() * Unit;
        source.cleanBytes += (space_.freeUnits() - space_.dirtyUnits()) * Unit;
        if constexpr (CountingLock<Mutex>) {
            snapshot.sourceLock.add(lock_.takes(), lock_.waits());
        }
    }

    [[nodiscard]] std::size_t mappedBytes() const noexcept {
        const std::size_t back = counts_.unmappedBytes.load(std::memory_order_relaxed);
        return counts_.mappedBytes.load(std::memory_order_relaxed) - back;
    }
    [[nodiscard]] bool isMine(const void* address) const noexcept {
        return RegionMap::ownerOf(address) == this;
    }

    /// What was asked of the system since the start.
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

    Space space_; ///< under the lock
    Mutex lock_;  ///< of the space
    Counts counts_;

private:
    [[nodiscard]] Chunk* mappedWithRoom(std::size_t units, std::size_t room) noexcept {
        constexpr std::size_t granule = RegionMap::granule / Unit;
        Chunk* const chunk = mapped(roundUp(units + room, granule), chunkAlignment);
        return chunk != nullptr || room == 0 ? chunk
                                             : mapped(roundUp(units, granule), chunkAlignment);
    }

    Chunk* discarded(Chunk* chunk) noexcept {
        if (chunk != nullptr) {
            unmap(*chunk);
        }
        return nullptr;
    }

    [[nodiscard]] bool extend(Chunk& chunk, std::size_t units) noexcept {
        const std::size_t have = chunk.units * Unit;
        if (!System::extend(&chunk, have, units * Unit)) {
            return false;
        }
        if (!RegionMap::enterFurther(&chunk, have, units * Unit, this)) {
            System::unmap(forward(&chunk, have), units * Unit - have);
            return false;
        }
        resized(chunk, units);
        return true;
    }

    /// Gives the end of a chunk with a single object back.
    void cut(Chunk& chunk, std::size_t units) noexcept {
        const std::size_t bytes = (chunk.units - units) * Unit;
        RegionMap::leave(chunk.at(units), bytes);
        if (!System::unmap(chunk.at(units), bytes)) {
            [[maybe_unused]] const bool entered =
                RegionMap::enterFurther(&chunk, units * Unit, chunk.units * Unit, this);
            return;
        }
        chunk.stained = std::min(chunk.stained, units);
        resized(chunk, units);
    }

    void resized(Chunk& chunk, std::size_t units) noexcept {
        if (units > chunk.units) {
            count(counts_.moves, counts_.mappedBytes, (units - chunk.units) * Unit);
        } else {
            count(counts_.unmaps, counts_.unmappedBytes, (chunk.units - units) * Unit);
        }
        const Hold hold(lock_);
        space_.removeSingle(chunk);
        chunk.units = units;
        space_.addSingle(chunk);
    }

    SharedWord<Address> lowest_{0}; ///< where the latest chunk begins
};

} // namespace heapwright

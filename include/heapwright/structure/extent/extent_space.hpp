// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Chunks of units, and the allocation of runs of units from them. `ExtentChunk` describes a chunk
// in its first unit. `ExtentSpace` finds the chunk and the run that serve a request. Neither makes
// a system call: a space reports which units or chunks are due to be purged.
//
// Each unit of a chunk is in use or free, which a bitmap records. So a freed run merges with its
// free neighbours when its bits are set, and free memory is never touched. A free unit is clean
// (zero bytes without memory behind them) or dirty since a time. A chunk for a single object has no
// bitmap and may have any size.
//
// A request is served from the chunk whose longest free run is the shortest that suffices, and
// there from the shortest run. So nearly full chunks become full, and others become empty.
//
// The last freed run is marked lazily. A request of the same size reuses it without touching the
// bitmap. It counts as free and dirty. Every other function that reads the bitmap marks it first.
//
// A block is 2 MiB of a chunk, which a huge page can back. A block for which the memory requests
// huge pages stays so until units of it are purged.
//
// Invariant: a chunk for many objects is in the bin of its longest free run. It is in the dirty
// list if and only if one of its units is dirty. A chunk for a single object is in the list of
// singles.
// Pre: the caller of a space's functions holds the lock of its memory.
// Cost: A few loads to find a chunk, and a bit scan for each 64 units and each free run in it.
// Reuse of the last freed run costs a few loads. Memory: one page of state for 512 MiB / Unit.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/structure/cache/owner_tag.hpp>
#include <heapwright/structure/map/bit_runs.hpp>
#include <heapwright/structure/map/bit_set.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace heapwright {

template <std::size_t Unit>
struct ExtentChunk {
    /// The largest number of units of a chunk for many objects, including the first unit.
    static constexpr std::size_t most = std::min<std::size_t>(32 * MiB / Unit, Unit / 8);

    /// Units of a block.
    static constexpr std::size_t blockUnits = std::max<std::size_t>(2 * MiB / Unit, 1);
    static_assert(most / blockUnits <= 32);

    /// The position in a list.
    struct Links {
        ExtentChunk* next = nullptr;
        ExtentChunk* previous = nullptr;
    };

    ExtentChunk() noexcept {} // NOLINT(modernize-use-equals-default): does not write `notes`

    OwnerTagWord ownerTag{noOwnerTag}; ///< no object starts in this unit
    void* owner = nullptr;             ///< null: this unit is no superblock
    Links inList;                      ///< list of its bin, or of the singles
    Links inDirtyList;                 ///< list of the chunks with dirty units
    std::size_t units = 0;             ///< number of mapped units, including this one
    std::uint32_t longest = 0;         ///< length of the longest free run
    std::uint32_t freeUnits = 0;       ///< number of free units
    std::uint32_t dirtyUnits = 0;      ///< number of free units that are dirty
    std::uint32_t oldest = 0;          ///< a time before which no unit became dirty, in ms
    std::uint32_t hugeBlocks = 0;      ///< a bit for each block with requested huge pages
    void* denseSample = nullptr;       ///< an earlier block with ordinary pages, to be measured
    bool single = false;               ///< whether the chunk serves a single object
    std::size_t first = 0;             ///< first unit of the single object
    std::size_t length = 0;            ///< number of units of the single object
    std::size_t touchedEnd = 0;        ///< single: no unit from here on was ever in use
    BitRuns<most> free;                ///< free units
    BitRuns<most> dirty;               ///< dirty units; a subset of the free ones
    /// By unit. For the first unit of a run in use: the length of the run. For a dirty unit: the
    /// time at which it was freed, in ms. A new chunk is zero bytes, so nothing is written in
    /// advance.
    std::uint32_t notes[most];

    [[nodiscard]] void* at(std::size_t unit) noexcept { return forward(this, unit * Unit); }
    [[nodiscard]] std::size_t indexOf(const void* address) const noexcept {
        return (addressOf(address) - addressOf(this)) / Unit;
    }
    /// The length of the run in use that starts with a unit.
    [[nodiscard]] std::size_t lengthAt(std::size_t unit) const noexcept {
        return single ? length : notes[unit];
    }
    [[nodiscard]] bool isEmpty() const noexcept { return freeUnits + 1 == units; }
    /// The time since a dirty unit was freed, in ms.
    [[nodiscard]] std::uint32_t ageAt(std::size_t unit, std::uint32_t now) const noexcept {
        return now - notes[unit];
    }

    /// Clean free units of some blocks.
    [[nodiscard]] std::size_t cleanUnitsIn(std::uint32_t blocks) const noexcept {
        std::size_t clean = 0;
        for (; blocks != 0; blocks &= blocks - 1) {
            const auto start = static_cast<std::size_t>(__builtin_ctz(blocks)) * blockUnits;
            clean += free.count(start, blockUnits) - dirty.count(start, blockUnits);
        }
        return clean;
    }
    /// The blocks that contain units of a run.
    [[nodiscard]] static std::uint32_t blocksOf(std::size_t from, std::size_t count) noexcept {
        const std::size_t last = (from + count - 1) / blockUnits;
        const std::uint64_t upTo = (std::uint64_t{2} << last) - 1;
        return static_cast<std::uint32_t>(upTo) & ~((1U << (from / blockUnits)) - 1);
    }
    /// The whole blocks whose units, except those of a run, are clean and free. The first block,
    /// which contains this description, is none of them.
    /// Pre: the run was clean and is in use now.
    [[nodiscard]] std::uint32_t blocksOpenedBy(std::size_t from, std::size_t count) const noexcept {
        std::uint32_t opened = 0;
        for (std::uint32_t rest = blocksOf(from, count) & ~hugeBlocks & ~1U; rest != 0;
             rest &= rest - 1) {
            const std::uint32_t block = rest & -rest;
            const auto start = static_cast<std::size_t>(__builtin_ctz(rest)) * blockUnits;
            const std::size_t end = start + blockUnits;
            const std::size_t taken = std::min(from + count, end) - std::max(from, start);
            if (end <= units && cleanUnitsIn(block) + taken == blockUnits) {
                opened |= block;
            }
        }
        return opened;
    }

    /// Runs `body(first, length)` on each run in use.
    template <class Body>
    void forEachRun(Body body) const noexcept {
        if (single) {
            body(first, length);
            return;
        }
        for (std::size_t unit = free.nextGap(1); unit < units;) {
            body(unit, std::size_t{notes[unit]});
            unit = free.nextGap(unit + notes[unit]);
        }
    }

    /// Marks free units as in use. The caller updates `longest`.
    void allocate(std::size_t from, std::size_t count) noexcept {
        free.reset(from, count);
        freeUnits -= static_cast<std::uint32_t>(count);
        const std::size_t dirtyCount = dirty.count(from, count);
        if (dirtyCount != 0) {
            dirty.reset(from, count);
            dirtyUnits -= static_cast<std::uint32_t>(dirtyCount);
        }
    }

    /// Marks clean units as free.
    /// Post: `longest` is right if it was.
    void release(std::size_t from, std::size_t count) noexcept {
        free.set(from, count);
        freeUnits += static_cast<std::uint32_t>(count);
        const std::size_t start = free.startOfRun(from);
        const std::size_t run = free.nextGap(from + count) - start;
        longest = std::max(longest, static_cast<std::uint32_t>(run));
    }
    /// Marks units as free and dirty since `now`.
    void releaseDirty(std::size_t from, std::size_t count, std::uint32_t now) noexcept {
        dirty.set(from, count);
        std::fill_n(notes + from, count, now);
        oldest = dirtyUnits == 0 ? now : oldest;
        dirtyUnits += static_cast<std::uint32_t>(count);
        release(from, count);
    }
};

template <std::size_t Unit>
class ExtentSpace {
public:
    using Chunk = ExtentChunk<Unit>;
    using Bits = BitRuns<Chunk::most>;

    /// Consecutive units of a chunk; `chunk` is null if there are none.
    struct Run {
        Chunk* chunk = nullptr;
        std::size_t first = 0;
        std::size_t length = 0;

        [[nodiscard]] void* start() const noexcept { return chunk->at(first); }
        [[nodiscard]] std::size_t bytes() const noexcept { return length * Unit; }
    };

    constexpr ExtentSpace() noexcept = default;

    /// Allocates consecutive units, the first of them `phase` modulo `align`. On success `dirt`, if
    /// not null, receives the dirty units of the chunk before the allocation.
    [[nodiscard]] Run allocate(std::size_t count, std::size_t align, std::size_t phase,
                               Bits* dirt) noexcept {
        if (lastFreed_.length == count && align == 1) {
            return reuseLastFreed(dirt);
        }
        mergeLastFreed();
        Chunk* const chunk = choose(count + align - 1);
        if (chunk == nullptr) {
            return {};
        }
        const auto fit = chunk->free.bestFit(count, align, phase, chunk->longest);
        if (dirt != nullptr) {
            *dirt = chunk->dirty;
        }
        remove(*chunk, fit.first, count, fit.rest);
        chunk->notes[fit.first] = static_cast<std::uint32_t>(count);
        return {chunk, fit.first, count};
    }

    /// Frees units in use, which are dirty since `now`.
    void release(const Run& run, std::uint32_t now) noexcept {
        mergeLastFreed();
        lastFreed_ = run;
        lastFreedAt_ = now;
    }

    /// Frees units in use that are clean.
    void releaseClean(const Run& run) noexcept {
        const std::size_t before = run.chunk->longest;
        const std::size_t hugeBefore = run.chunk->cleanUnitsIn(run.chunk->hugeBlocks);
        run.chunk->release(run.first, run.length);
        hugeClean_ += run.chunk->cleanUnitsIn(run.chunk->hugeBlocks) - hugeBefore;
        added(*run.chunk, before, run.length);
    }

    /// Marks blocks of a chunk as blocks with huge pages. False without effect if the clean free
    /// units of all such blocks were then more than an eighth of the units in use, `inUse`.
    [[nodiscard]] bool openHuge(Chunk& chunk, std::uint32_t blocks, std::size_t inUse) noexcept {
        const std::size_t clean = hugeClean_ + chunk.cleanUnitsIn(blocks);
        if (clean > inUse / 8) {
            return false;
        }
        hugeClean_ = clean;
        chunk.hugeBlocks |= blocks;
        return true;
    }
    /// The clean free units of blocks with huge pages.
    [[nodiscard]] std::size_t hugeClean() const noexcept { return hugeClean_; }

    /// Extends a run into the free units that follow; false without effect if they are not free.
    [[nodiscard]] bool grow(Chunk& chunk, std::size_t first, std::size_t length) noexcept {
        mergeLastFreed();
        const std::size_t have = chunk.notes[first];
        const std::size_t end = first + have;
        if (first + length > chunk.units || !chunk.free.has(end % Chunk::most) ||
            chunk.free.nextGap(end) < first + length) {
            return false;
        }
        remove(chunk, end, length - have, std::nullopt);
        chunk.notes[first] = static_cast<std::uint32_t>(length);
        return true;
    }

    /// Adds a chunk for many objects: a new one, or one that served a single object. All its units
    /// are free. The units before `touchedEnd` may be dirty.
    void add(Chunk& chunk, std::size_t touchedEnd, std::uint32_t now) noexcept {
        chunk.single = false;
        chunk.longest = 0;
        link<&Chunk::inList>(bins_[0], chunk);
        binned_.set(0);
        if (touchedEnd > 1) {
            release({&chunk, 1, touchedEnd - 1}, now);
        }
        if (touchedEnd < chunk.units) {
            releaseClean({&chunk, std::max<std::size_t>(touchedEnd, 1), chunk.units - touchedEnd});
        }
    }

    /// Adds a chunk for a single object.
    void addSingle(Chunk& chunk) noexcept {
        chunk.single = true;
        link<&Chunk::inList>(singles_, chunk);
        singleUnits_ += chunk.units;
        ++singleCount_;
    }
    void removeSingle(Chunk& chunk) noexcept {
        unlink<&Chunk::inList>(singles_, chunk);
        singleUnits_ -= chunk.units;
        --singleCount_;
    }

    /// Makes a chunk serve only a run that is the only one in use there; false if there are others.
    [[nodiscard]] bool makeSingle(const Run& run) noexcept {
        mergeLastFreed();
        Chunk& chunk = *run.chunk;
        if (chunk.freeUnits + run.length + 1 != chunk.units) {
            return false;
        }
        detach(chunk);
        chunk.first = run.first;
        chunk.length = run.length;
        chunk.touchedEnd = chunk.units;
        addSingle(chunk);
        return true;
    }

    /// Removes a chunk without objects; null if there is none.
    [[nodiscard]] Chunk* removeEmpty() noexcept {
        mergeLastFreed();
        for (std::size_t bin = binned_.next(1); emptyCount_ != 0 && bin < binCount;
             bin = binned_.next(bin + 1)) {
            for (Chunk* chunk = bins_[bin]; chunk != nullptr; chunk = chunk->inList.next) {
                if (chunk->isEmpty()) {
                    detach(*chunk);
                    return chunk;
                }
            }
        }
        return nullptr;
    }

    /// Removes any chunk, with the runs in use there; null if there is none.
    [[nodiscard]] Chunk* removeAny() noexcept {
        mergeLastFreed();
        if (Chunk* const chunk = singles_) {
            removeSingle(*chunk);
            return chunk;
        }
        const std::size_t bin = binned_.next(0);
        Chunk* const chunk = bin == binCount ? nullptr : bins_[bin];
        if (chunk != nullptr) {
            detach(*chunk);
        }
        return chunk;
    }

    /// Memory to purge. It is either a run or a whole chunk. A run counts as in use until the
    /// caller releases it again. A chunk is no longer in the space. `hugeBlocks`: blocks of the run
    /// that had huge pages. They are no longer marked.
    struct Due {
        Run run;
        Chunk* chunk = nullptr;
        std::uint32_t hugeBlocks = 0;
    };

    /// Units that have been dirty for at least `delay` ms. The only chunk without objects is kept
    /// if it has at most `spare` units.
    [[nodiscard]] Due nextDue(std::uint32_t now, std::uint32_t delay, std::size_t spare) noexcept {
        mergeLastFreed();
        std::uint32_t most = 0; // the greatest age of the units that are not due
        for (Chunk* chunk = dirty_; chunk != nullptr; chunk = chunk->inDirtyList.next) {
            std::uint32_t greatest = now - chunk->oldest;
            if (greatest >= delay) {
                const Run run = dueIn(*chunk, now, delay, greatest);
                if (run.length != 0) {
                    return detachDue(run, spare);
                }
                chunk->oldest = now - greatest;
            }
            most = std::max(most, greatest);
        }
        oldest_ = now - most;
        return {};
    }

    /// An upper bound of the age of the oldest dirty unit, in ms; 0 if there is none.
    [[nodiscard]] std::uint32_t oldestAge(std::uint32_t now) const noexcept {
        return dirtyUnits_ != 0 ? now - oldest_ : lastFreed_.length != 0 ? now - lastFreedAt_ : 0;
    }
    [[nodiscard]] std::size_t dirtyUnits() const noexcept {
        return dirtyUnits_ + lastFreed_.length;
    }
    [[nodiscard]] std::size_t freeUnits() const noexcept { return freeUnits_ + lastFreed_.length; }
    /// The units of chunks for single objects.
    [[nodiscard]] std::size_t singleUnits() const noexcept { return singleUnits_; }
    [[nodiscard]] std::size_t singleCount() const noexcept { return singleCount_; }

    /// Runs `body` on each chunk.
    template <class Body>
    void forEachChunk(Body body) {
        mergeLastFreed();
        for (Chunk* chunk = singles_; chunk != nullptr; chunk = chunk->inList.next) {
            body(*chunk);
        }
        for (Chunk* const bin : bins_) {
            for (Chunk* chunk = bin; chunk != nullptr; chunk = chunk->inList.next) {
                body(*chunk);
            }
        }
    }

private:
    using Links = typename Chunk::Links;

    static constexpr std::size_t exact =
        16;                                 ///< below: a bin for each length; above: 8 per doubling
    static constexpr std::size_t tries = 4; ///< most chunks of the first bin that are tried

    [[nodiscard]] static constexpr std::size_t binOf(std::size_t length) noexcept {
        if (length < exact) {
            return length;
        }
        const std::size_t log2 = floorLog2(length);
        return exact + (log2 - 4) * 8 + (length >> (log2 - 3)) % 8;
    }
    static constexpr std::size_t binCount = binOf(Chunk::most) + 1;

    template <Links Chunk::*Place>
    static void link(Chunk*& list, Chunk& chunk) noexcept {
        (chunk.*Place).previous = nullptr;
        (chunk.*Place).next = list;
        if (list != nullptr) {
            (list->*Place).previous = &chunk;
        }
        list = &chunk;
    }
    template <Links Chunk::*Place>
    static void unlink(Chunk*& list, Chunk& chunk) noexcept {
        const Links links = chunk.*Place;
        (links.previous != nullptr ? (links.previous->*Place).next : list) = links.next;
        if (links.next != nullptr) {
            (links.next->*Place).previous = links.previous;
        }
    }

    /// Marks the last freed run in its chunk's bitmap.
    void mergeLastFreed() noexcept {
        if (lastFreed_.length == 0) {
            return;
        }
        const Run run = std::exchange(lastFreed_, {});
        Chunk& chunk = *run.chunk;
        if (chunk.dirtyUnits == 0) {
            link<&Chunk::inDirtyList>(dirty_, chunk);
        }
        oldest_ = dirtyUnits_ == 0 ? lastFreedAt_ : oldest_;
        dirtyUnits_ += run.length;
        const std::size_t before = chunk.longest;
        chunk.releaseDirty(run.first, run.length, lastFreedAt_);
        added(chunk, before, run.length);
    }
    /// The last freed run, in use again.
    [[nodiscard]] Run reuseLastFreed(Bits* dirt) noexcept {
        const Run run = std::exchange(lastFreed_, {});
        if (dirt != nullptr) {
            *dirt = run.chunk->dirty;
            dirt->set(run.first, run.length);
        }
        run.chunk->notes[run.first] = static_cast<std::uint32_t>(run.length);
        return run;
    }

    /// A chunk with a free run of a length, approximately the fullest one; null if there is none.
    [[nodiscard]] Chunk* choose(std::size_t length) const noexcept {
        if (length > Chunk::most) {
            return nullptr;
        }
        const std::size_t bin = binOf(length);
        std::size_t left = tries; // the runs of this bin may be too short
        for (Chunk* chunk = bins_[bin]; chunk != nullptr && left != 0; --left) {
            if (chunk->longest >= length) {
                return chunk;
            }
            chunk = chunk->inList.next;
        }
        const std::size_t larger = binned_.next(bin + 1);
        return larger == binCount ? nullptr : bins_[larger];
    }

    /// Moves a chunk to the bin of its longest run, which had length `before`.
    void rebin(Chunk& chunk, std::size_t before) noexcept {
        const std::size_t from = binOf(before);
        const std::size_t to = binOf(chunk.longest);
        if (from != to) {
            unbin(chunk, from);
            link<&Chunk::inList>(bins_[to], chunk);
            binned_.set(to);
        }
    }
    void unbin(Chunk& chunk, std::size_t bin) noexcept {
        unlink<&Chunk::inList>(bins_[bin], chunk);
        if (bins_[bin] == nullptr) {
            binned_.reset(bin);
        }
    }

    /// Updates the sums after `count` units of a chunk became free.
    void added(Chunk& chunk, std::size_t before, std::size_t count) noexcept {
        freeUnits_ += count;
        emptyCount_ += chunk.isEmpty() ? 1U : 0U;
        rebin(chunk, before);
    }

    /// Marks free units as in use. `longest` is the longest run afterwards, if it is known.
    void remove(Chunk& chunk, std::size_t first, std::size_t count,
                std::optional<std::size_t> longest) noexcept {
        emptyCount_ -= chunk.isEmpty() ? 1U : 0U;
        freeUnits_ -= count;
        const std::size_t dirtyBefore = chunk.dirtyUnits;
        const std::size_t before = chunk.longest;
        const std::size_t hugeBefore = chunk.cleanUnitsIn(chunk.hugeBlocks);
        chunk.allocate(first, count);
        hugeClean_ -= hugeBefore - chunk.cleanUnitsIn(chunk.hugeBlocks);
        chunk.longest = static_cast<std::uint32_t>(longest ? *longest : chunk.free.longest());
        if (dirtyBefore != chunk.dirtyUnits) {
            dirtyUnits_ -= dirtyBefore - chunk.dirtyUnits;
            if (chunk.dirtyUnits == 0) {
                unlink<&Chunk::inDirtyList>(dirty_, chunk);
            }
        }
        rebin(chunk, before);
    }

    /// Removes a chunk from all lists.
    /// Post: none of its units counts as free.
    void detach(Chunk& chunk) noexcept {
        emptyCount_ -= chunk.isEmpty() ? 1U : 0U;
        unbin(chunk, binOf(chunk.longest));
        if (chunk.dirtyUnits != 0) {
            unlink<&Chunk::inDirtyList>(dirty_, chunk);
        }
        freeUnits_ -= chunk.freeUnits;
        dirtyUnits_ -= chunk.dirtyUnits;
        hugeClean_ -= chunk.cleanUnitsIn(chunk.hugeBlocks);
        chunk.free = {};
        chunk.dirty = {};
        chunk.freeUnits = 0;
        chunk.dirtyUnits = 0;
        chunk.longest = 0;
    }

    /// The first run of a chunk that is due. If there is none, `greatest` is the age of its oldest
    /// dirty unit.
    [[nodiscard]] static Run dueIn(Chunk& chunk, std::uint32_t now, std::uint32_t delay,
                                   std::uint32_t& greatest) noexcept {
        greatest = 0;
        std::size_t unit = chunk.dirty.next(0);
        while (unit < Chunk::most) {
            const std::uint32_t age = chunk.ageAt(unit, now);
            if (age < delay) {
                greatest = std::max(greatest, age);
                unit = chunk.dirty.next(unit + 1);
                continue;
            }
            std::size_t end = unit + 1;
            while (end < Chunk::most && chunk.dirty.has(end) && chunk.ageAt(end, now) >= delay) {
                ++end;
            }
            return {&chunk, unit, end - unit};
        }
        return {};
    }

    /// Removes a due run from the free units. If its chunk has no object and no other dirty unit,
    /// the whole chunk is removed, unless it is kept.
    [[nodiscard]] Due detachDue(const Run& run, std::size_t spare) noexcept {
        Chunk& chunk = *run.chunk;
        const bool stays = emptyCount_ == 1 && chunk.units <= spare;
        if (chunk.isEmpty() && chunk.dirtyUnits == run.length && !stays) {
            detach(chunk);
            return {{}, &chunk, 0};
        }
        remove(chunk, run.first, run.length, std::nullopt);
        const std::uint32_t blocks = chunk.hugeBlocks & Chunk::blocksOf(run.first, run.length);
        hugeClean_ -= chunk.cleanUnitsIn(blocks);
        chunk.hugeBlocks &= ~blocks;
        return {run, nullptr, blocks};
    }

    Chunk* bins_[binCount] = {};    ///< by length of the longest run, most recent first
    BitSet<binCount> binned_;       ///< bins that are not empty
    Chunk* dirty_ = nullptr;        ///< chunks with dirty units
    Chunk* singles_ = nullptr;      ///< chunks for single objects
    Run lastFreed_;                 ///< free, but not marked in its bitmap
    std::uint32_t lastFreedAt_ = 0; ///< time of that free, in ms
    std::size_t freeUnits_ = 0;     ///< free units of all chunks, without `lastFreed_`
    std::size_t dirtyUnits_ = 0;    ///< dirty units of all chunks, without `lastFreed_`
    std::uint32_t oldest_ = 0;      ///< a time before which none of them became dirty
    std::size_t hugeClean_ = 0;     ///< clean free units of blocks with huge pages
    std::size_t emptyCount_ = 0;    ///< number of chunks without objects
    std::size_t singleUnits_ = 0;   ///< mapped units of chunks for single objects
    std::size_t singleCount_ = 0;   ///< number of chunks for single objects
};

} // namespace heapwright

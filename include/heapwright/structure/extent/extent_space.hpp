// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Chunks of units (structure/extent/extent_chunk.hpp) and where among them a run of units is best
// taken: in the chunk whose longest free run is the shortest that will do, and there in the
// shortest run. So chunks that are nearly full are filled, and others drain. It asks nobody for
// memory and gives none back: it says what is due to be given back.
//
// What was freed last waits to be marked as free: who then asks for just as many units gets these
// before any bit has changed. It counts as free, and whatever looks at bits has it marked before.
// Invariant: a chunk for many objects is on the list for its longest run, and on that of the dirty
// ones if any of its free units is; one for a single object is on a third.
// Cost: a few loads to find the chunk, and a scan of its bits; a few loads for what waits.
#pragma once

#include <heapwright/structure/extent/extent_chunk.hpp>
#include <heapwright/structure/map/bit_set.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace heapwright {

template <std::size_t Unit>
class ExtentSpace {
public:
    using Chunk = ExtentChunk<Unit>;
    using Bits = BitRuns<Chunk::most>;

    /// Some units of a chunk in a row; of null if there are none.
    struct Run {
        Chunk* chunk = nullptr;
        std::size_t first = 0;
        std::size_t length = 0;

        [[nodiscard]] void* start() const noexcept { return chunk->at(first); }
        [[nodiscard]] std::size_t bytes() const noexcept { return length * Unit; }
    };

    constexpr ExtentSpace() noexcept = default;

    /// Units in a row, in use from now on, the first of them `phase` modulo `align`. If there are
    /// any and `dirt` is not null, it says which units of the chunk were dirty.
    [[nodiscard]] Run take(std::size_t count, std::size_t align, std::size_t phase,
                           Bits* dirt) noexcept {
        if (waiting_.length == count && align == 1) {
            return takeWaiting(dirt);
        }
        settle();
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

    /// Units in use become free, and are dirty since now.
    void give(const Run& run, std::uint32_t now) noexcept {
        settle();
        waiting_ = run;
        since_ = now;
    }

    /// Units in use become free and are clean.
    void giveClean(const Run& run) noexcept {
        const std::size_t before = run.chunk->longest;
        run.chunk->give(run.first, run.length);
        added(*run.chunk, before, run.length);
    }

    /// Makes a run longer if what follows is free; false, and nothing changed, if it is not.
    [[nodiscard]] bool grow(Chunk& chunk, std::size_t first, std::size_t length) noexcept {
        settle();
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

    /// A new chunk for many objects, or one that served a single one: all is free; of the units
    /// before `stained` it is not known whether they are clean.
    void add(Chunk& chunk, std::size_t stained, std::uint32_t now) noexcept {
        chunk.single = false;
        chunk.longest = 0;
        link<&Chunk::here>(bins_[0], chunk);
        binned_.set(0);
        if (stained > 1) {
            give({&chunk, 1, stained - 1}, now);
        }
        if (stained < chunk.units) {
            giveClean({&chunk, std::max<std::size_t>(stained, 1), chunk.units - stained});
        }
    }

    /// A chunk that serves a single object.
    void addSingle(Chunk& chunk) noexcept {
        chunk.single = true;
        link<&Chunk::here>(singles_, chunk);
        singleUnits_ += chunk.units;
        ++singleCount_;
    }
    void removeSingle(Chunk& chunk) noexcept {
        unlink<&Chunk::here>(singles_, chunk);
        singleUnits_ -= chunk.units;
        --singleCount_;
    }

    /// A chunk in which this run is the only one in use becomes its own; false if there are others.
    [[nodiscard]] bool makeSingle(const Run& run) noexcept {
        settle();
        Chunk& chunk = *run.chunk;
        if (chunk.freeUnits + run.length + 1 != chunk.units) {
            return false;
        }
        forget(chunk);
        chunk.first = run.first;
        chunk.length = run.length;
        chunk.stained = chunk.units;
        addSingle(chunk);
        return true;
    }

    /// Takes a chunk without objects out; null if there is none.
    [[nodiscard]] Chunk* removeEmpty() noexcept {
        settle();
        for (std::size_t bin = binned_.next(1); emptyCount_ != 0 && bin < binCount;
             bin = binned_.next(bin + 1)) {
            for (Chunk* chunk = bins_[bin]; chunk != nullptr; chunk = chunk->here.next) {
                if (chunk->isEmpty()) {
                    forget(*chunk);
                    return chunk;
                }
            }
        }
        return nullptr;
    }

    /// Takes any chunk out, whatever is in use of it; null if there is none.
    [[nodiscard]] Chunk* removeAny() noexcept {
        settle();
        if (Chunk* const chunk = singles_) {
            removeSingle(*chunk);
            return chunk;
        }
        const std::size_t bin = binned_.next(0);
        Chunk* const chunk = bin == binCount ? nullptr : bins_[bin];
        if (chunk != nullptr) {
            forget(*chunk);
        }
        return chunk;
    }

    /// Something to be given back to the system: units that count as in use until they come back
    /// clean, or a whole chunk, which is forgotten.
    struct Due {
        Run run;
        Chunk* chunk = nullptr;
    };

    /// What is dirty for as long as `delay`. One chunk without objects stays if it has no more than
    /// `spare` units.
    [[nodiscard]] Due nextDue(std::uint32_t now, std::uint32_t delay, std::size_t spare) noexcept {
        settle();
        std::uint32_t most = 0; // the age of the oldest that is not due
        for (Chunk* chunk = dirty_; chunk != nullptr; chunk = chunk->amongDirty.next) {
            std::uint32_t eldest = now - chunk->oldest;
            if (eldest >= delay) {
                const Run run = dueIn(*chunk, now, delay, eldest);
                if (run.length != 0) {
                    return taken(run, spare);
                }
                chunk->oldest = now - eldest;
            }
            most = std::max(most, eldest);
        }
        oldest_ = now - most;
        return {};
    }

    /// For how long the oldest dirty unit may have been so; 0 also if there is none.
    [[nodiscard]] std::uint32_t oldestAge(std::uint32_t now) const noexcept {
        return dirtyUnits_ != 0 ? now - oldest_ : waiting_.length != 0 ? now - since_ : 0;
    }
    [[nodiscard]] std::size_t dirtyUnits() const noexcept { return dirtyUnits_ + waiting_.length; }
    [[nodiscard]] std::size_t freeUnits() const noexcept { return freeUnits_ + waiting_.length; }
    /// Of chunks that serve single objects.
    [[nodiscard]] std::size_t singleUnits() const noexcept { return singleUnits_; }
    [[nodiscard]] std::size_t singleCount() const noexcept { return singleCount_; }

    /// Runs `body` on each chunk.
    template <class Body>
    void forEachChunk(Body body) {
        settle();
        for (Chunk* chunk = singles_; chunk != nullptr; chunk = chunk->here.next) {
            body(*chunk);
        }
        for (Chunk* const bin : bins_) {
            for (Chunk* chunk = bin; chunk != nullptr; chunk = chunk->here.next) {
                body(*chunk);
            }
        }
    }

private:
    using Links = typename Chunk::Links;

    static constexpr std::size_t exact = 16; ///< a bin for each length below, 8 for each doubling
    static constexpr std::size_t tries = 4;  ///< chunks of one bin that are looked at

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

    /// Marks as free what waits for that.
    void settle() noexcept {
        if (waiting_.length == 0) {
            return;
        }
        const Run run = std::exchange(waiting_, {});
        Chunk& chunk = *run.chunk;
        if (chunk.dirtyUnits == 0) {
            link<&Chunk::amongDirty>(dirty_, chunk);
        }
        oldest_ = dirtyUnits_ == 0 ? since_ : oldest_;
        dirtyUnits_ += run.length;
        const std::size_t before = chunk.longest;
        chunk.giveDirty(run.first, run.length, since_);
        added(chunk, before, run.length);
    }
    [[nodiscard]] Run takeWaiting(Bits* dirt) noexcept {
        const Run run = std::exchange(waiting_, {});
        if (dirt != nullptr) {
            *dirt = run.chunk->dirty;
            dirt->set(run.first, run.length);
        }
        run.chunk->notes[run.first] = static_cast<std::uint32_t>(run.length);
        return run;
    }

    /// A chunk that has a run so long; the fullest, more or less.
    [[nodiscard]] Chunk* choose(std::size_t length) const noexcept {
        if (length > Chunk::most) {
            return nullptr;
        }
        const std::size_t bin = binOf(length);
        std::size_t left = tries; // some of this bin may be too short
        for (Chunk* chunk = bins_[bin]; chunk != nullptr && left != 0; --left) {
            if (chunk->longest >= length) {
                return chunk;
            }
            chunk = chunk->here.next;
        }
        const std::size_t larger = binned_.next(bin + 1);
        return larger == binCount ? nullptr : bins_[larger];
    }

    /// To the bin for a chunk's longest run, when that was another.
    void rebin(Chunk& chunk, std::size_t before) noexcept {
        const std::size_t from = binOf(before);
        const std::size_t to = binOf(chunk.longest);
        if (from != to) {
            unbin(chunk, from);
            link<&Chunk::here>(bins_[to], chunk);
            binned_.set(to);
        }
    }
    void unbin(Chunk& chunk, std::size_t bin) noexcept {
        unlink<&Chunk::here>(bins_[bin], chunk);
        if (bins_[bin] == nullptr) {
            binned_.reset(bin);
        }
    }

    void added(Chunk& chunk, std::size_t before, std::size_t count) noexcept {
        freeUnits_ += count;
        emptyCount_ += chunk.isEmpty() ? 1U : 0U;
        rebin(chunk, before);
    }

    /// Takes free units; `longest` is the longest run then, if that is known.
    void remove(Chunk& chunk, std::size_t first, std::size_t count,
                std::optional<std::size_t> longest) noexcept {
        emptyCount_ -= chunk.isEmpty() ? 1U : 0U;
        freeUnits_ -= count;
        const std::size_t dirtyBefore = chunk.dirtyUnits;
        const std::size_t before = chunk.longest;
        chunk.take(first, count);
        chunk.longest = static_cast<std::uint32_t>(longest ? *longest : chunk.free.longest());
        if (dirtyBefore != chunk.dirtyUnits) {
            dirtyUnits_ -= dirtyBefore - chunk.dirtyUnits;
            if (chunk.dirtyUnits == 0) {
                unlink<&Chunk::amongDirty>(dirty_, chunk);
            }
        }
        rebin(chunk, before);
    }

    /// Takes a chunk out of all lists; none of its units counts as free any more.
    void forget(Chunk& chunk) noexcept {
        emptyCount_ -= chunk.isEmpty() ? 1U : 0U;
        unbin(chunk, binOf(chunk.longest));
        if (chunk.dirtyUnits != 0) {
            unlink<&Chunk::amongDirty>(dirty_, chunk);
        }
        freeUnits_ -= chunk.freeUnits;
        dirtyUnits_ -= chunk.dirtyUnits;
        chunk.free = {};
        chunk.dirty = {};
        chunk.freeUnits = 0;
        chunk.dirtyUnits = 0;
        chunk.longest = 0;
    }

    /// The first units of a chunk that are due, in a row; if there are none, `eldest` is the age of
    /// the oldest of the others.
    [[nodiscard]] static Run dueIn(Chunk& chunk, std::uint32_t now, std::uint32_t delay,
                                   std::uint32_t& eldest) noexcept {
        eldest = 0;
        std::size_t unit = chunk.dirty.next(0);
        while (unit < Chunk::most) {
            const std::uint32_t age = chunk.ageAt(unit, now);
            if (age < delay) {
                eldest = std::max(eldest, age);
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

    /// Out of what is free: the units that are due, or if that is all that is dirty of a chunk
    /// without objects, the chunk, unless it is to stay.
    [[nodiscard]] Due taken(const Run& run, std::size_t spare) noexcept {
        Chunk& chunk = *run.chunk;
        const bool stays = emptyCount_ == 1 && chunk.units <= spare;
        if (chunk.isEmpty() && chunk.dirtyUnits == run.length && !stays) {
            forget(chunk);
            return {{}, &chunk};
        }
        remove(chunk, run.first, run.length, std::nullopt);
        return {run, nullptr};
    }

    Chunk* bins_[binCount] = {};  ///< by the length of their longest run, the latest first
    BitSet<binCount> binned_;     ///< which bins have any
    Chunk* dirty_ = nullptr;      ///< chunks with dirty units
    Chunk* singles_ = nullptr;    ///< chunks that serve single objects
    Run waiting_;                 ///< free, but not marked yet,
    std::uint32_t since_ = 0;     ///< since then; not in these figures:
    std::size_t freeUnits_ = 0;   ///< of all chunks,
    std::size_t dirtyUnits_ = 0;  ///< and of these, dirty,
    std::uint32_t oldest_ = 0;    ///< none of them since before this
    std::size_t emptyCount_ = 0;  ///< chunks without objects
    std::size_t singleUnits_ = 0; ///< of chunks that serve single objects
    std::size_t singleCount_ = 0;
};

} // namespace heapwright

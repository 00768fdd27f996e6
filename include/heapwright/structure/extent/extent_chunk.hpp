// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A chunk: so many units of memory in a row, of which the first says what the others are. All of
// them are free or in use; runs of free ones are found by their bits, so that what is freed is
// merged with its neighbours by itself, and no free unit is ever touched.
//
// A free unit is clean, which is zero bytes and no memory, or it is dirty since some time. A chunk
// that serves a single object has no use for bits and may be of any size.
// Cost: a bit scan for each 64 units and each free run; of memory, a page for 512 MiB / Unit.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/structure/cache/owner_tag.hpp>
#include <heapwright/structure/map/bit_runs.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heapwright {

template <std::size_t Unit>
struct ExtentChunk {
    /// The most units of a chunk that serves many objects, its own among them.
    static constexpr std::size_t most = std::min<std::size_t>(32 * MiB / Unit, Unit / 8);

    /// Its place on a list.
    struct Links {
        ExtentChunk* next = nullptr;
        ExtentChunk* previous = nullptr;
    };

    ExtentChunk() noexcept {} // NOLINT(modernize-use-equals-default): notes stay as they are

    OwnerTagWord home{noOwnerTag}; ///< no object starts in this unit,
    void* owner = nullptr;         ///< and it is no superblock
    Links here;                    ///< on the list where its space keeps it
    Links amongDirty;              ///< on that of the chunks with dirty units
    std::size_t units = 0;         ///< how many are mapped, this one among them
    std::uint32_t longest = 0;     ///< the longest run of free units
    std::uint32_t freeUnits = 0;   ///< how many are free,
    std::uint32_t dirtyUnits = 0;  ///< and of these, dirty
    std::uint32_t oldest = 0;      ///< none is dirty since before this
    bool single = false;           ///< serves one object:
    std::size_t first = 0;         ///< which starts with this unit
    std::size_t length = 0;        ///< and has so many
    std::size_t stained = 0;       ///< no unit from this one on was ever in use
    BitRuns<most> free;
    BitRuns<most> dirty; ///< only free ones
    /// Of a run in use, under its first unit, how many units it has; of a dirty one, since when.
    /// (A new chunk is zero bytes anyway, and these are touched only as they are needed.)
    std::uint32_t notes[most];

    [[nodiscard]] void* at(std::size_t unit) noexcept { return forward(this, unit * Unit); }
    [[nodiscard]] std::size_t indexOf(const void* address) const noexcept {
        return (addressOf(address) - addressOf(this)) / Unit;
    }
    /// How many units the run in use has that starts with this one.
    [[nodiscard]] std::size_t lengthAt(std::size_t unit) const noexcept {
        return single ? length : notes[unit];
    }
    [[nodiscard]] bool isEmpty() const noexcept { return freeUnits + 1 == units; }
    /// For how long a dirty unit has been so.
    [[nodiscard]] std::uint32_t ageAt(std::size_t unit, std::uint32_t now) const noexcept {
        return now - notes[unit];
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

    /// Free units are in use from now on.
    void take(std::size_t from, std::size_t count) noexcept {
        free.reset(from, count);
        freeUnits -= static_cast<std::uint32_t>(count);
        const std::size_t soiled = dirty.count(from, count);
        if (soiled != 0) {
            dirty.reset(from, count);
            dirtyUnits -= static_cast<std::uint32_t>(soiled);
        }
    }

    /// Units become free, clean or as the program left them. What the longest run is follows.
    void give(std::size_t from, std::size_t count) noexcept {
        free.set(from, count);
        freeUnits += static_cast<std::uint32_t>(count);
        const std::size_t start = free.startOfRun(from);
        const std::size_t run = free.nextGap(from + count) - start;
        longest = std::max(longest, static_cast<std::uint32_t>(run));
    }
    void giveDirty(std::size_t from, std::size_t count, std::uint32_t now) noexcept {
        dirty.set(from, count);
        std::fill_n(notes + from, count, now);
        oldest = dirtyUnits == 0 ? now : oldest;
        dirtyUnits += static_cast<std::uint32_t>(count);
        give(from, count);
    }
};

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The two curves of drag, computed from lifetimes without addresses.
//
// Time is allocation time: the bytes allocated so far. Take an object of s bytes that is allocated
// when the clock reaches b. It is *held* from b − s until the clock value at its free. It is
// *needed* from b − s until the clock value at its last access, at least until b. Each object thus
// counts while its own bytes are allocated. The areas under the curves are sums over the
// allocations: bytes allocated, times bytes held or needed at that time.
//
// Areas and both maxima are exact. The curves are exact at the points that are kept.
// Cost: memory for the points, and for the last accesses of the live objects (see below).
//
// Only the maximum of the need is hard to compute from lifetimes in the order of death. The need at
// an earlier time stays unknown while any object allocated before is live. `upper` of a time is the
// need at that time if all present live objects are accessed again. When an object dies, `upper`
// falls by its size at all times after the object's last access, and never otherwise. Between two
// neighbouring last accesses of live objects, all values thus fall alike, and only the largest has
// to be kept: `settle` removes the others.
#pragma once

#include "drag/account/page_vector.hpp"
#include "drag/account/paged_array.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace heapwright::drag {

/// Bytes × bytes of allocation time.
__extension__ using Area = unsigned __int128;

struct Peak {
    std::uint64_t bytes = 0;
    std::uint64_t at = 0; ///< the clock after the allocation that reached it first
};

struct SiteSums {
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
    std::uint64_t untouched = 0; ///< objects that were never accessed
    std::uint64_t untouchedBytes = 0;
    std::uint64_t unfreed = 0; ///< objects that were live at the end
    std::uint64_t unfreedBytes = 0;
    Area held = 0;
    Area needed = 0;
};

struct CurvePoint {
    std::uint64_t at;
    std::uint64_t held;
    std::uint64_t needed;
};

struct Totals {
    std::uint64_t clock = 0; ///< bytes that were allocated
    std::uint64_t objects = 0;
    Area held = 0;
    Area needed = 0;
    Peak mostHeld;
    Peak mostNeeded;
};

class Curves {
public:
    /// The allocation clock: bytes allocated so far.
    std::uint64_t now() const { return clock_; }
    std::uint64_t live() const { return held_; }

    /// Records the allocation of an object. Returns its birth: the clock including its bytes.
    std::uint64_t born(std::uint64_t size);

    struct Life {
        std::uint64_t size;
        std::uint64_t birth;
        std::uint64_t
            /// The clock at the last access, at least `birth`; also `birth` without an access.
            lastAccess;
        std::uint32_t site;
        bool touched;         ///< it was accessed at least once
        bool unfreed = false; ///< it ended only because the program ended
    };
    /// Records the free of an object, now.
    void ended(const Life& life);

    /// Whether there are enough gaps to settle them.
    bool wantsSettling() const { return gaps_.size() >= settleAt_; }
    std::size_t unsettled() const { return gaps_.size(); }
    /// Settles the gaps. `lastAccesses` are those of all live objects, in any order; they are
    /// sorted in place.
    void settle(std::uint64_t* lastAccesses, std::size_t count);

    /// Pre: all objects have ended.
    Totals totals() const;
    /// The number of points, at equal steps from 0 to the last allocation: the bytes held and
    /// needed when the clock passed each.
    std::size_t pointCount() const;
    /// Calls `take(CurvePoint)` for each.
    template <typename Take>
    void eachPoint(Take take) const {
        std::int64_t held = 0;
        std::int64_t needed = 0;
        for (std::size_t i = 0; i < pointCount(); ++i) {
            held += steps_[i].held;
            needed += steps_[i].needed;
            take(CurvePoint{i * step_, static_cast<std::uint64_t>(held),
                            static_cast<std::uint64_t>(needed)});
        }
    }
    std::uint64_t step() const { return step_; }

    /// An upper bound of the sites' numbers.
    std::uint32_t siteCount() const { return siteCount_; }
    /// Null if no object allocated there has ended.
    const SiteSums* site(std::uint32_t site) const {
        return site < siteCount_ && sites_.has(site) ? &sites_[site] : nullptr;
    }

private:
    static constexpr std::size_t mostSteps = 1000;
    static constexpr std::size_t fewGaps = 4096;

    /// The allocations between two times at which live objects were accessed for the last time.
    struct Gap {
        std::uint64_t end;  ///< the clock after the last of them
        std::uint64_t at;   ///< the clock after the one with the largest `upper`
        std::int64_t upper; ///< the largest `upper`, without the falls
        std::int64_t fall;  ///< of this gap and all later ones
    };
    /// The change at a step.
    struct Change {
        std::int64_t held;
        std::int64_t needed;
    };

    Change& stepAt(std::uint64_t clock) {
        // The first step that is not below the clock.
        return steps_[static_cast<std::size_t>(clock / step_ + (clock % step_ != 0 ? 1 : 0))];
    }
    void fold();

    std::uint64_t clock_ = 0;
    std::uint64_t held_ = 0;
    Totals totals_;
    std::int64_t falls_ = 0; ///< sum of the falls
    PageVector<Gap> gaps_;
    std::size_t settleAt_ = fewGaps;
    std::uint64_t step_ = 1;
    std::array<Change, mostSteps + 2> steps_{};
    PagedArray<SiteSums> sites_;
    std::uint32_t siteCount_ = 0;
};

} // namespace heapwright::drag

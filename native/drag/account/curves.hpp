// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The two curves of drag, from lifetimes alone; what an address is, is not known here.
//
// Time is allocation time: the bytes allocated so far. An object of s bytes that is allocated when
// the clock stands at b − s is *held* from b − s until the clock stands where it was when the
// object was freed, and *needed* from b − s until the clock stands where it was at its last access;
// at least until b. So each object counts while its own bytes are allocated, and the areas under
// the curves are sums over the calls that allocate: bytes allocated, times what was there then.
//
// Areas and both maxima are exact; the curves are exact at the points that are kept. Memory is that
// of the points, and of the live objects' last accesses (below).
//
// The maximum of the need is the one thing that lifetimes in their order of death do not tell: how
// much was needed at an earlier time is open as long as an object is live that was allocated
// before. `upper` of a time is what was needed then if all that is live now will be accessed again.
// When an object dies, it falls by its size everywhere behind the object's last access, and never
// otherwise. So between two neighbouring last accesses of live objects all falls alike, and only
// the largest need be kept: `settle` forgets the others.
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
    std::uint64_t at = 0; ///< the clock, when the allocation that made it was done; the first such
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

    /// An object is allocated; its birth, which is the clock with its bytes.
    std::uint64_t born(std::uint64_t size);

    struct Life {
        std::uint64_t size;
        std::uint64_t birth;
        std::uint64_t
            lastAccess; ///< the clock then, `birth` or later; `birth` also if there was none
        std::uint32_t site;
        bool touched;         ///< it was accessed
        bool unfreed = false; ///< it is ended only because all ends
    };
    /// An object is freed, now.
    void ended(const Life& life);

    /// So much waits to be settled that it should be.
    bool wantsSettling() const { return gaps_.size() >= settleAt_; }
    std::size_t unsettled() const { return gaps_.size(); }
    /// Takes the last accesses of all live objects, in any order, which it sorts.
    void settle(std::uint64_t* lastAccesses, std::size_t count);

    /// When all objects have ended.
    Totals totals() const;
    /// Even steps from 0 on, as far as there are allocations behind them: what was held and needed
    /// when the clock passed each.
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

    /// Sites are numbers below this one.
    std::uint32_t siteCount() const { return siteCount_; }
    /// Null if nothing that was allocated there has ended.
    const SiteSums* site(std::uint32_t site) const {
        return site < siteCount_ && sites_.has(site) ? &sites_[site] : nullptr;
    }

private:
    static constexpr std::size_t mostSteps = 1000;
    static constexpr std::size_t fewGaps = 4096;

    /// Allocations between two times at which live objects were accessed for the last time.
    struct Gap {
        std::uint64_t end;  ///< the clock after the last of them
        std::uint64_t at;   ///< the clock after the one with the largest `upper`
        std::int64_t upper; ///< the largest, without the falls
        std::int64_t fall;  ///< of this and all that follow
    };
    /// What changes at a step.
    struct Change {
        std::int64_t held;
        std::int64_t needed;
    };

    Change& stepAt(std::uint64_t clock) {
        // The first step that the clock has not yet passed when it stands there.
        return steps_[static_cast<std::size_t>(clock / step_ + (clock % step_ != 0 ? 1 : 0))];
    }
    void fold();

    std::uint64_t clock_ = 0;
    std::uint64_t held_ = 0;
    Totals totals_;
    std::int64_t falls_ = 0; ///< the sum of them
    PageVector<Gap> gaps_;
    std::size_t settleAt_ = fewGaps;
    std::uint64_t step_ = 1;
    std::array<Change, mostSteps + 2> steps_{};
    PagedArray<SiteSums> sites_;
    std::uint32_t siteCount_ = 0;
};

} // namespace heapwright::drag

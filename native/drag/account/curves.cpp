// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes areas, points and maxima from lifetimes; curves.hpp defines them.
#include "drag/account/curves.hpp"

#include <algorithm>

namespace heapwright::drag {

std::uint64_t Curves::born(std::uint64_t size) {
    const std::uint64_t before = clock_;
    clock_ += size;
    held_ += size;
    ++totals_.objects;
    if (size == 0) {
        return clock_;
    }
    while (clock_ / step_ >= mostSteps) {
        fold();
    }
    Change& change = stepAt(before);
    change.held += static_cast<std::int64_t>(size);
    change.needed += static_cast<std::int64_t>(size);
    if (held_ > totals_.mostHeld.bytes) {
        totals_.mostHeld = {held_, clock_};
    }
    gaps_.push({clock_, clock_, static_cast<std::int64_t>(held_) + falls_, 0});
    return clock_;
}

void Curves::ended(const Life& life) {
    const std::uint64_t last = std::max(life.lastAccess, life.birth);
    const std::uint64_t begin = life.birth - life.size;
    const Area held = Area{life.size} * (clock_ - begin);
    const Area needed = Area{life.size} * (last - begin);
    totals_.held += held;
    totals_.needed += needed;
    siteCount_ = std::max(siteCount_, life.site + 1);
    SiteSums& site = sites_.make(life.site);
    ++site.objects;
    site.bytes += life.size;
    site.untouched += life.touched ? 0 : 1;
    site.untouchedBytes += life.touched ? 0 : life.size;
    site.unfreed += life.unfreed ? 1 : 0;
    site.unfreedBytes += life.unfreed ? life.size : 0;
    site.held += held;
    site.needed += needed;
    held_ -= life.size;
    if (life.size == 0) {
        return;
    }
    const auto size = static_cast<std::int64_t>(life.size);
    stepAt(clock_).held -= size;
    stepAt(last).needed -= size;
    Gap* const behind =
        std::upper_bound(gaps_.begin(), gaps_.end(), last,
                         [](std::uint64_t clock, const Gap& gap) { return clock < gap.end; });
    if (behind != gaps_.end()) {
        behind->fall += size;
        falls_ += size;
    }
}

/// Doubles the step and halves the number of points.
void Curves::fold() {
    step_ *= 2;
    for (std::size_t at = 1; at < steps_.size(); ++at) {
        const Change change = steps_[at];
        steps_[at] = {};
        Change& half = steps_[(at + 1) / 2];
        half.held += change.held;
        half.needed += change.needed;
    }
}

void Curves::settle(std::uint64_t* lastAccesses, std::size_t count) {
    std::sort(lastAccesses, lastAccesses + count);
    const std::uint64_t* last = lastAccesses;
    const std::uint64_t* const end = lastAccesses + count;
    std::size_t kept = 0;
    std::int64_t fallen = 0;
    bool apart = true; // an object was accessed for the last time at the end of the gap before
    for (std::size_t i = 0; i < gaps_.size(); ++i) {
        Gap gap = gaps_[i];
        fallen += gap.fall;
        gap.upper -= fallen;
        gap.fall = 0;
        if (apart) {
            gaps_[kept++] = gap;
        } else {
            Gap& before = gaps_[kept - 1];
            before.end = gap.end;
            if (gap.upper > before.upper) {
                before.upper = gap.upper;
                before.at = gap.at;
            }
        }
        last = std::lower_bound(last, end, gap.end);
        apart = last != end && i + 1 < gaps_.size() && *last < gaps_[i + 1].end;
    }
    gaps_.shorten(kept);
    falls_ = 0;
    settleAt_ = 2 * kept + fewGaps;
}

Totals Curves::totals() const {
    Totals totals = totals_;
    totals.clock = clock_;
    std::int64_t fallen = 0;
    std::int64_t most = 0;
    for (const Gap& gap : gaps_) {
        fallen += gap.fall;
        if (gap.upper - fallen > most) {
            most = gap.upper - fallen;
            totals.mostNeeded = {static_cast<std::uint64_t>(most), gap.at};
        }
    }
    return totals;
}

std::size_t Curves::pointCount() const {
    return static_cast<std::size_t>(clock_ / step_ + (clock_ % step_ != 0 ? 1 : 0));
}

} // namespace heapwright::drag

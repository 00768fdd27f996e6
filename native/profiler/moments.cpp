// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/moments.hpp"

#include <algorithm>
#include <utility>

namespace heapwright::profiler {

Moments::Moments(WantedMoments wanted) : wanted_(std::move(wanted)), sorted_(wanted_.times) {
    std::sort(sorted_.begin(), sorted_.end());
    sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
    if (!sorted_.empty())
        next_ = sorted_.front();
}

void Moments::takeNext(Moment moment) {
    taken_.push_back(std::move(moment));
    next_ = taken_.size() < sorted_.size() ? sorted_[taken_.size()] : never;
}

void Moments::takeOperation(Moment moment) {
    operation_.push_back(std::move(moment));
    wanted_.afterOperations = never;
}

std::vector<Moment> Moments::byTime() const {
    std::vector<Moment> moments;
    for (const std::uint64_t time : wanted_.times) {
        const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), time);
        moments.push_back(taken_[static_cast<std::size_t>(found - sorted_.begin())]);
    }
    return moments;
}

} // namespace heapwright::profiler

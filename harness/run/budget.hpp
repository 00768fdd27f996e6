// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A share of one processor that an activity may use. What it did cost puts its next turn off, so
// that in the long run it stays below its share, however large the tree or the machine.
#pragma once

#include "clock.hpp"

#include <algorithm>

namespace heapwright::harness {

class Budget {
public:
    Budget(double share, Nanoseconds shortest) : share_(share), shortest_(shortest) {}

    bool due(Nanoseconds now) const { return now >= next_; }
    Nanoseconds next() const { return next_; }

    /// A turn that began at `now` cost this much CPU time.
    void charge(Nanoseconds now, Nanoseconds cost) {
        const auto pause = static_cast<Nanoseconds>(static_cast<double>(cost) / share_);
        next_ = now + std::max(shortest_, pause);
        longest_ = std::max(longest_, next_ - now);
    }

    /// The longest pause so far.
    Nanoseconds longest() const { return longest_; }

private:
    double share_;
    Nanoseconds shortest_;
    Nanoseconds next_ = 0;
    Nanoseconds longest_ = 0;
};

} // namespace heapwright::harness

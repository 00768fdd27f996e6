// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The share of one processor that an activity may use. An initial credit covers the expensive first
// turns. After that, the cost of a turn delays the next one. The activity thus stays below its
// share in the long run, for any size of the tree or machine.
#pragma once

#include "clock.hpp"

#include <algorithm>

namespace heapwright::runner {

class Budget {
public:
    Budget(double share, Nanoseconds shortest) : share_(share), shortest_(shortest) {}

    void begin(Nanoseconds now) { begin_ = next_ = now; }
    bool due(Nanoseconds now) const { return now >= next_; }
    Nanoseconds next() const { return next_; }

    /// Charges a turn that began at `now` with its CPU time.
    void charge(Nanoseconds now, Nanoseconds cost) {
        spent_ += cost;
        const auto owed = static_cast<double>(std::max<Nanoseconds>(spent_ - credit, 0));
        next_ = std::max(now + shortest_, begin_ + static_cast<Nanoseconds>(owed / share_));
        longest_ = std::max(longest_, next_ - now);
    }

    /// The longest pause so far.
    Nanoseconds longest() const { return longest_; }

private:
    static constexpr Nanoseconds credit = millisecond / 2;

    double share_;
    Nanoseconds shortest_;
    Nanoseconds begin_ = 0;
    Nanoseconds next_ = 0;
    Nanoseconds spent_ = 0;
    Nanoseconds longest_ = 0;
};

} // namespace heapwright::runner

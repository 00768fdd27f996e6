// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The resident set over time in a bounded number of points. When the series is full, neighbours are
// merged, and each point then covers twice as many samples. A point is the maximum of its samples,
// so that no merge hides a peak.
#pragma once

#include "clock.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace heapwright::runner {

class Series {
public:
    struct Point {
        Nanoseconds time;
        std::int64_t bytes;
    };

    void add(Nanoseconds time, std::int64_t bytes) {
        if (inLast_ == perPoint_ && points_.size() == capacity) {
            halve();
        }
        if (points_.empty() || inLast_ == perPoint_) {
            points_.push_back({time, bytes});
            inLast_ = 1;
            return;
        }
        keepLarger(points_.back(), {time, bytes});
        ++inLast_;
    }

    const std::vector<Point>& points() const { return points_; }

private:
    static constexpr std::size_t capacity = 2000; // even, so that neighbours pair up

    static void keepLarger(Point& point, const Point& other) {
        if (other.bytes > point.bytes) {
            point = other;
        }
    }

    void halve() {
        for (std::size_t i = 0; i < capacity / 2; ++i) {
            points_[i] = points_[2 * i];
            keepLarger(points_[i], points_[2 * i + 1]);
        }
        points_.resize(capacity / 2);
        perPoint_ *= 2;
        inLast_ = perPoint_;
    }

    std::vector<Point> points_;
    std::size_t perPoint_ = 1;
    std::size_t inLast_ = 1; ///< samples in the last point
};

} // namespace heapwright::runner

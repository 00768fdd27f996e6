// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Live memory over time: the state at the end of each of some even steps of time, and at the very
// moment of the peak. The steps become twice as long whenever there would be too many, so that the
// memory is fixed and every figure that stays is exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/json.hpp"
#include "profiler/live_state.hpp"
#include "profiler/sizes.hpp"

namespace heapwright::profiler {

class Timeline {
public:
    /// `duration` in ns, as far as it is known: what it is wrong by costs points, no exactness.
    Timeline(const Sizes& sizes, std::uint64_t duration);

    /// The first time at which a point is to be taken before the state changes.
    std::uint64_t next() const { return end_; }
    /// To be called before the state changes at `time`.
    void advance(const LiveState& state, std::uint64_t time) {
        if (time >= end_) [[unlikely]]
            step(state, time);
    }
    /// Pre: the state has grown. `state` is that after `operations` operations.
    void grown(const LiveState& state, std::uint64_t operations) {
        if (state.bytes > most_)
            newMost(state, operations);
    }
    /// Live bytes that are to be exceeded for `grown` to have anything to do.
    std::uint64_t most() const { return most_; }
    void finish(const LiveState& state);

    const LiveState& peak() const { return peak_.state; }

    /// The array of points.
    void write(Json& json, bool usableKnown) const;
    /// The array of the commonest sizes over the same points.
    void writeSizes(Json& json) const;

private:
    static constexpr std::size_t mostSteps = 998; ///< with the peak and the end, a thousand
    static constexpr std::size_t watchedSizes = 64;
    static constexpr std::size_t writtenSizes = 5;

    struct Watched {
        std::uint64_t size;
        SizeCount count;
    };
    struct Point {
        LiveState state;
        std::uint64_t most = 0; ///< live bytes since the point before
        std::vector<Watched> sizes;
    };

    void step(const LiveState& state, std::uint64_t time);
    void fold();
    void newMost(const LiveState& state, std::uint64_t operations) {
        most_ = state.bytes;
        if (state.bytes > peak_.state.bytes) {
            peak_.state = state;
            peak_.state.operations = operations;
        }
    }
    Point take(const LiveState& state, std::uint64_t time);
    void watchCommonest(const LiveState& state);
    std::vector<Point> inOrder() const;

    const Sizes& sizes_;
    std::uint64_t step_;
    std::uint64_t end_;
    std::uint64_t most_ = 0;
    Point peak_;
    std::vector<Point> points_;
    std::vector<std::uint64_t> watched_;
    std::uint64_t watchAgain_ = 0; ///< operations at which the commonest sizes are looked for again
};

} // namespace heapwright::profiler

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The curve of live memory. The most frequent sizes are known only at the end. At each point the
// counts of the 64 that are the most frequent so far are kept. Those of the five most frequent ones
// at the end are written.
#include "profiler/timeline.hpp"

#include <algorithm>

namespace heapwright::profiler {

Timeline::Timeline(const Sizes& sizes, std::uint64_t duration)
    : sizes_(sizes), step_(std::max<std::uint64_t>(1000, duration / (mostSteps - 8) + 1)),
      end_(step_) {
    points_.reserve(mostSteps + 1);
}

void Timeline::step(const LiveState& state, std::uint64_t time) {
    while (time >= end_) {
        if (points_.size() == mostSteps) {
            fold();
            continue;
        }
        // Of a long silence one point would tell all; the steps stay even.
        points_.push_back(take(state, end_));
        end_ += step_;
    }
}

/// Two steps become one, which ends as the second did.
void Timeline::fold() {
    for (std::size_t at = 1; at < points_.size(); at += 2) {
        points_[at].most = std::max(points_[at].most, points_[at - 1].most);
        points_[at / 2] = std::move(points_[at]);
    }
    points_.resize(points_.size() / 2);
    step_ *= 2;
    end_ = step_ * (points_.size() + 1);
}

Timeline::Point Timeline::take(const LiveState& state, std::uint64_t time) {
    if (state.operations >= watchAgain_)
        watchCommonest(state);
    Point point{state, std::max(most_, state.bytes), {}};
    point.state.time = time;
    point.sizes.reserve(watched_.size());
    for (const std::uint64_t size : watched_)
        point.sizes.push_back({size, sizes_.look(size)});
    most_ = state.bytes;
    return point;
}

void Timeline::watchCommonest(const LiveState& state) {
    watched_.clear();
    for (const CountedSize& each : sizes_.commonest(watchedSizes))
        watched_.push_back(each.size);
    watchAgain_ = state.operations + state.operations / 16 + 1;
}

void Timeline::finish(const LiveState& state) {
    if (points_.empty() || points_.back().state.operations != state.operations)
        points_.push_back(take(state, state.time));
}

/// The points with the peak between them.
std::vector<Timeline::Point> Timeline::inOrder() const {
    std::vector<Point> all = points_;
    if (peak_.state.bytes == 0)
        return all;
    const auto after = std::find_if(all.begin(), all.end(), [this](const Point& point) {
        return point.state.operations >= peak_.state.operations;
    });
    if (after != all.end() && after->state.operations == peak_.state.operations &&
        after->state.bytes == peak_.state.bytes)
        return all;
    Point peak = peak_;
    peak.most = peak.state.bytes;
    all.insert(after, peak);
    return all;
}

void Timeline::write(Json& json, bool usableKnown) const {
    json.beginArray();
    std::uint64_t requested = 0;
    for (const Point& point : inOrder()) {
        const LiveState& state = point.state;
        json.beginObject().secondsField("time_s", state.time).field("operation", state.operations);
        json.field("live_bytes", state.bytes).field("live_objects", state.objects);
        json.key("usable_bytes");
        usableKnown ? json.value(state.usable) : json.null();
        json.field("most_live_bytes", point.most);
        json.field("allocated_bytes", state.requested - requested).endObject();
        requested = state.requested;
    }
    json.endArray();
}

void Timeline::writeSizes(Json& json) const {
    const std::vector<Point> points = inOrder();
    const auto series = [&](std::uint64_t size, std::uint64_t SizeCount::*part) {
        json.beginArray();
        for (const Point& point : points) {
            const auto found =
                std::find_if(point.sizes.begin(), point.sizes.end(),
                             [size](const Watched& one) { return one.size == size; });
            found == point.sizes.end() ? json.null() : json.value(found->count.*part);
        }
        json.endArray();
    };
    json.beginArray();
    for (const CountedSize& each : sizes_.commonest(writtenSizes)) {
        json.beginObject().field("size", each.size).key("allocations");
        series(each.size, &SizeCount::allocations);
        json.key("live");
        series(each.size, &SizeCount::live);
        json.endObject();
    }
    json.endArray();
}

} // namespace heapwright::profiler

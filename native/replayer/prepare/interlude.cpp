// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See interlude.hpp.
#include "interlude.hpp"

#include <algorithm>
#include <optional>

namespace heapwright::replayer {

namespace {

constexpr std::uint64_t millisecond = 1'000'000; ///< ns

} // namespace

void Interlude::before(const Step& step, PlanWriter& writer) {
    const std::optional<Gap> gap = clock_.before(step.thread, step.event);
    const std::uint64_t work = gap ? model_.work(*gap) : 0;
    if (work == 0) {
        return;
    }
    Thread& thread = threads_[step.thread];
    thread.credit += work * between_.visitsPerMillisecond;
    for (; thread.credit >= millisecond && between_.visits < mostVisits;
         thread.credit -= millisecond) {
        visit(step.thread, writer);
    }
    const std::uint64_t rate = between_.iterationsPerMillisecond;
    const std::uint64_t iterations =
        std::min(work / millisecond * rate + work % millisecond * rate / millisecond, mostControl);
    between_.worked = sumOrMost(between_.worked, work);
    between_.iterations = sumOrMost(between_.iterations, iterations);
    if (iterations != 0) {
        writer.control(step.thread, Control::work, iterations);
    }
}

void Interlude::visit(std::size_t thread, PlanWriter& writer) {
    const Recency& objects = threads_[thread].objects;
    if (objects.live() == 0) {
        return;
    }
    const Recency::Object& object = objects.at(locality_.draw(random_, objects.live()));
    const std::uint64_t lines = std::clamp<std::uint64_t>((object.size - 1) / Visit::lineBytes + 1,
                                                          1, Visit::mostFirst + Visit::mostLines);
    const auto count = static_cast<std::uint32_t>(std::min(lines, Visit::mostLines));
    const std::uint64_t first = random_() % (lines - count + 1);
    const Visit made{object.slot, static_cast<std::uint32_t>(first), count};
    writer.control(thread, Control::visit, made.value());
    ++between_.visits;
    between_.visitedLines += count;
}

void Interlude::made(const Object& object) {
    if (!object.shared && object.size != 0 && between_.visitsPerMillisecond != 0) {
        threads_[object.thread].objects.add({object.number, object.size, object.slot});
    }
}

void Interlude::left(const Object& object) {
    Recency& objects = threads_[object.thread].objects;
    if (objects.has(object.number)) {
        objects.remove(object.number);
    }
}

} // namespace heapwright::replayer

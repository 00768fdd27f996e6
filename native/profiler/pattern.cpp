// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The class is *peak* if some third of the operations made at least three quarters of the
// long-lived allocations. In addition, the last quarter must have made at most a tenth. Otherwise
// it is growing. A straight line has one third in its densest third and a quarter in its last
// quarter. A run that begins with a burst has all and none. The limits are about in the middle. A
// burst at the very end is growing: nothing shows that it ends.
#include "profiler/pattern.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace heapwright::profiler {
namespace {

constexpr double denseEnough = 0.75;
constexpr double flatEnough = 0.10;

/// What was made before each place of the run, which may lie within a step.
class Cumulative {
public:
    Cumulative(const std::vector<std::uint64_t>& counts, double length)
        : sums_{0.0}, length_(length) {
        for (const std::uint64_t count : counts)
            sums_.push_back(sums_.back() + static_cast<double>(count));
    }
    double before(double place) const {
        const double at = std::clamp(place, 0.0, length_);
        const auto step = static_cast<std::size_t>(at);
        if (step + 1 >= sums_.size())
            return sums_.back();
        const auto start = static_cast<double>(step);
        const double width = std::min(1.0, length_ - start);
        return sums_[step] + (at - start) / width * (sums_[step + 1] - sums_[step]);
    }
    double all() const { return sums_.back(); }

private:
    std::vector<double> sums_;
    double length_;
};

} // namespace

PatternClass classify(const std::vector<std::uint64_t>& longLived, double stepsInRun) {
    const Cumulative made(longLived, stepsInRun);
    if (made.all() == 0)
        return {{}, {}, "", "no allocation was long-lived (more than 1 s, or never freed)"};
    const double third = stepsInRun / 3;
    double densest = 0;
    // A straight piece is densest at one of its ends: windows that begin or end at an edge will do.
    for (std::size_t edge = 0; edge <= longLived.size(); ++edge) {
        const auto place = static_cast<double>(edge);
        const double start = std::min(place, stepsInRun - third);
        densest = std::max(densest, made.before(start + third) - made.before(start));
        densest = std::max(densest, made.before(place) - made.before(place - third));
    }
    PatternClass found;
    found.densestThird = std::min(1.0, densest / made.all());
    found.lastQuarter = std::clamp(1 - made.before(stepsInRun * 3 / 4) / made.all(), 0.0, 1.0);
    const bool peak = *found.densestThird >= denseEnough && *found.lastQuarter <= flatEnough;
    found.name = peak ? "peak" : "growing";
    char text[200];
    std::snprintf(text, sizeof text,
                  "peak if a third of the operations makes 75 %% or more of the long-lived "
                  "allocations and the last quarter 10 %% or less: %.0f %% and %.0f %%",
                  *found.densestThird * 100, *found.lastQuarter * 100);
    found.rule = text;
    return found;
}

void Pattern::write(Json& json, std::uint64_t operations) const {
    std::vector<std::uint64_t> counts;
    for (const Cell& cell : counts_.cells())
        counts.push_back(cell.longLived);
    const double steps = static_cast<double>(operations) / static_cast<double>(counts_.step());
    counts.resize(std::max(counts.size(), static_cast<std::size_t>(std::ceil(steps))));
    const PatternClass found = classify(counts, steps);
    json.beginObject().key("class");
    found.name.empty() ? json.null() : json.value(found.name);
    json.field("rule", std::string_view(found.rule));
    json.key("densest_third");
    found.densestThird ? json.value(*found.densestThird) : json.null();
    json.key("last_quarter");
    found.lastQuarter ? json.value(*found.lastQuarter) : json.null();
    const std::uint64_t step = written * counts_.step();
    json.field("step", step).key("long_lived").beginArray();
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at < counts.size(); ++at) {
        sum += counts[at];
        const bool last = at + 1 == counts.size();
        if ((at + 1) % written == 0 || last) {
            const std::uint64_t end = last ? operations : (at + 1) * counts_.step();
            json.beginArray().value(end).value(sum).endArray();
        }
    }
    json.endArray().endObject();
}

} // namespace heapwright::profiler

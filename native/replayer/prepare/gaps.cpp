// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See gaps.hpp.
#include "gaps.hpp"

#include "trace/accounts.hpp"

#include <algorithm>

namespace heapwright::replayer {

std::optional<Gap> GapClock::before(std::size_t thread, const trace::Event& event) {
    const bool isFree = trace::isFree(event.routine);
    const bool entry = isFree || trace::isRealloc(event.routine);
    const std::uint64_t begin = trace::isRealloc(event.routine) ? event.began : event.time;
    Stamp& last = last_[thread];
    std::optional<Gap> found;
    if (last.seen) {
        found = {.kind = (entry ? 0U : 1U) | (last.entered ? 2U : 0U),
                 .nanoseconds = begin > last.time ? std::min(begin - last.time, Gap::most) : 0};
    }
    last = {.seen = true, .entered = isFree, .time = event.time};
    return found;
}

/// The sum of `length(gap)` over all gaps, each as long as the upper end of its step.
template <class Length>
std::uint64_t GapSurvey::sumOf(Length length) const {
    std::uint64_t sum = 0;
    for (unsigned kind = 0; kind < gapKinds; ++kind) {
        for (std::size_t step = 0; step < AllHistogram::steps; ++step) {
            const std::uint64_t count = histograms_[kind].counts[step];
            if (count != 0) {
                const Gap gap{kind, std::min(AllHistogram::upperEnd(step), histograms_[kind].most)};
                const std::uint64_t each = length(gap);
                const bool fits = each == 0 || count <= UINT64_MAX / each;
                sum = sumOrMost(sum, fits ? count * each : UINT64_MAX);
            }
        }
    }
    return sum;
}

std::uint64_t GapSurvey::work(const GapModel& model) const {
    return sumOf([&model](const Gap& gap) { return model.work(gap); });
}

std::uint64_t GapSurvey::calls(const GapModel& model) const {
    return sumOf(
        [&model](const Gap& gap) { return std::min(gap.nanoseconds, model.calls[gap.kind]); });
}

GapModel GapSurvey::model(std::uint64_t processorTime) const {
    constexpr double shortest = 0.01;
    GapModel model;
    for (std::size_t kind = 0; kind < gapKinds; ++kind) {
        model.calls[kind] = histograms_[kind].quantile(shortest);
        model.longest = std::max(model.longest, histograms_[kind].most);
    }
    if (processorTime == 0) {
        model.longest = std::min(model.longest, longestUnknown);
        return model;
    }
    const std::uint64_t inCalls = calls(model);
    for (std::size_t step = AllHistogram::stepOf(model.longest);
         step > 0 && sumOrMost(inCalls, work(model)) > processorTime; --step) {
        model.longest = AllHistogram::upperEnd(step - 1);
    }
    return model;
}

std::uint64_t processorTime(const trace::Trace& trace, std::uint32_t process) {
    const trace::ProcessInfo& info = trace.processes().at(process);
    std::optional<std::uint64_t> found;
    for (const trace::Account& account : trace::readAccounts(trace).processes) {
        const bool single = account.fields.count == 1;
        if (single && account.fields.pid == info.pid && account.executable == info.executable) {
            if (found) {
                return 0; // one of two executions of the same file: it is not known which
            }
            found = account.fields.cpuNs;
        }
    }
    return found.value_or(0);
}

} // namespace heapwright::replayer

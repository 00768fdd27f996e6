// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See prepare.hpp.
#include "prepare.hpp"

#include "encoder.hpp"
#include "gaps.hpp"
#include "interlude.hpp"
#include "ledger.hpp"
#include "locality.hpp"
#include "recency.hpp"

#include "replayer/work.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <stdexcept>
#include <utility>
#include <vector>

namespace heapwright::replayer {

namespace {

/// What the first pass learns.
struct Survey {
    std::vector<bool> passed; ///< by number of the allocation: another thread ends the object
    std::vector<PlanThread> threads;
    PlanHeader header{};
    GapSurvey gaps;
    Locality locality;
};

/// Finds the ranks that objects have when they end.
class RankSurvey {
public:
    explicit RankSurvey(std::size_t threads) : objects_(threads) {}

    void step(const Step& step, Locality& found) {
        ended(step.old, found);
        ended(step.overwritten, found);
        if (step.made != nullptr) {
            objects_[step.thread].add({.number = step.made->number});
        }
    }

    /// What is live at the end ends then.
    void close(Locality& found) const {
        for (const Recency& objects : objects_) {
            for (std::size_t rank = 0; rank < objects.live(); ++rank) {
                found.add(rank);
            }
        }
    }

private:
    void ended(const Object& object, Locality& found) {
        if (object.address != 0) {
            Recency& objects = objects_[object.thread];
            found.add(objects.rank(object.number));
            objects.remove(object.number);
        }
    }

    std::vector<Recency> objects_;
};

std::uint32_t busiestProcess(const trace::Trace& trace) {
    std::vector<std::uint64_t> events(trace.processes().size());
    for (const trace::ThreadInfo& thread : trace.threads()) {
        if (thread.process < events.size()) {
            events[thread.process] += thread.events;
        }
    }
    const auto most = std::max_element(events.begin(), events.end());
    if (most == events.end() || *most == 0) {
        throw std::runtime_error("the trace has no calls that could be replayed");
    }
    return static_cast<std::uint32_t>(most - events.begin());
}

/// The process's threads by the time of their first calls, as the plan numbers them.
std::vector<std::uint32_t> orderThreads(const trace::Trace& trace, std::uint32_t process,
                                        std::vector<PlanThread>& threads) {
    std::vector<const trace::ThreadInfo*> mine;
    for (const trace::ThreadInfo& thread : trace.threads()) {
        if (thread.process == process && thread.events > 0) {
            mine.push_back(&thread);
        }
    }
    std::stable_sort(mine.begin(), mine.end(), [](const auto* one, const auto* other) {
        return one->firstTime < other->firstTime;
    });
    std::vector<std::uint32_t> indexOf(trace.threads().size(), UINT32_MAX);
    for (const trace::ThreadInfo* thread : mine) {
        indexOf[thread->thread] = static_cast<std::uint32_t>(threads.size());
        threads.emplace_back().number = thread->thread;
    }
    return indexOf;
}

/// How many threads were alive when each began: those whose last call was not yet over. A thread
/// counts as over only if no later thread of the plan begins before its end. The starter of a
/// thread may wait for it to end. It then never waits for work of the thread that it is to start.
void countAlive(std::vector<PlanThread>& threads, const std::vector<std::uint64_t>& last) {
    std::vector<std::uint64_t> earliest(threads.size());
    std::uint64_t least = UINT64_MAX;
    for (std::size_t at = threads.size(); at-- > 0;) {
        least = std::min(least, threads[at].began);
        earliest[at] = least;
    }
    std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> ends;
    for (std::size_t at = 0; at < threads.size(); ++at) {
        while (!ends.empty() && ends.top() < earliest[at]) {
            ends.pop();
        }
        ends.push(last[at]);
        threads[at].alive = ends.size();
    }
}

void notePassing(const Object& object, std::uint32_t thread, Survey& survey) {
    if (object.address != 0 && object.thread != thread) {
        survey.passed[object.number] = true;
        ++survey.header.handOvers;
    }
}

Survey surveyTrace(const trace::Trace& trace, std::uint32_t process, bool visits,
                   std::vector<std::uint32_t>& indexOf) {
    Survey survey;
    indexOf = orderThreads(trace, process, survey.threads);
    std::vector<std::uint64_t> last(survey.threads.size());
    std::vector<bool> seen(survey.threads.size());
    Ledger ledger(trace, process, indexOf);
    GapClock clock(survey.threads.size());
    RankSurvey ranks(survey.threads.size());
    Step step;
    while (ledger.next(step)) {
        if (step.act != Action::released) {
            if (const std::optional<Gap> gap = clock.before(step.thread, step.event)) {
                survey.gaps.add(*gap);
            }
        }
        if (survey.passed.size() < ledger.allocations()) {
            survey.passed.resize(2 * ledger.allocations() + 64);
        }
        PlanThread& thread = survey.threads.at(step.thread);
        if (!seen[step.thread]) {
            seen[step.thread] = true;
            thread.began = ledger.now();
        }
        last[step.thread] = ledger.now();
        if (step.act == Action::released || step.act == Action::skip) {
            continue;
        }
        notePassing(step.old, step.thread, survey);
        notePassing(step.overwritten, step.thread, survey);
        if (visits) {
            ranks.step(step, survey.locality);
        }
        ++thread.calls;
        thread.routines |= std::uint64_t{1} << static_cast<unsigned>(step.event.routine);
        if (step.overwritten.address != 0) {
            ++thread.calls;
            thread.routines |= std::uint64_t{1}
                               << static_cast<unsigned>(trace::freeOf(step.overwritten.routine));
        }
    }
    if (ledger.operations() == 0) {
        throw std::runtime_error("the process has no calls that could be replayed");
    }
    countAlive(survey.threads, last);
    ledger.close();
    ranks.close(survey.locality);
    survey.header.process = process;
    survey.header.events = ledger.operations();
    survey.header.peakBytes = ledger.peakBytes();
    survey.header.peakObjects = ledger.peakObjects();
    survey.header.peakOperation = ledger.peakOperation();
    survey.header.nanoseconds = ledger.now();
    survey.header.oddities = ledger.oddities();
    return survey;
}

/// The rate of visits, in a millisecond, that work of this length permits.
std::uint64_t mostVisitsIn(std::uint64_t nanoseconds) {
    constexpr std::uint64_t millisecond = 1'000'000;
    return Interlude::mostVisits * millisecond / std::max<std::uint64_t>(nanoseconds, 1);
}

/// Throws std::runtime_error if the trace has no times.
GapModel modelOf(const trace::Trace& trace, const PrepareOptions& options, Survey& survey) {
    if (trace.header().clock == trace::Clock::counted) {
        throw std::runtime_error("the trace has no times, so it does not say how long the program "
                                 "computed between its calls");
    }
    const std::uint64_t time =
        processorTime(trace, static_cast<std::uint32_t>(survey.header.process));
    const GapModel model = survey.gaps.model(time);
    Between& between = survey.header.between;
    between.recorded = survey.gaps.nanoseconds();
    between.longest = model.longest;
    std::copy(model.calls.begin(), model.calls.end(), between.calls);
    between.iterationsPerMillisecond = options.iterationsPerMillisecond != 0
                                           ? options.iterationsPerMillisecond
                                           : measureIterationsPerMillisecond();
    const std::uint64_t most = mostVisitsIn(survey.gaps.work(model));
    if (options.visitsPerMillisecond != 0 && most == 0) {
        throw std::runtime_error("the program computed too long between its calls for visits: "
                                 "leave out --visits");
    }
    between.visitsPerMillisecond = std::min(options.visitsPerMillisecond, most);
    return model;
}

} // namespace

PlanHeader prepare(const PrepareOptions& options) {
    const trace::Trace trace(options.trace);
    const std::uint32_t process =
        options.process == PrepareOptions::busiest ? busiestProcess(trace) : options.process;
    std::vector<std::uint32_t> indexOf;
    Survey survey = surveyTrace(trace, process, options.visitsPerMillisecond != 0, indexOf);
    survey.header.order = options.order;
    survey.header.aheadBytes = Windows::boundFor(survey.header.peakBytes);
    survey.header.paced = options.paced ? 1 : 0;

    std::optional<Interlude> interlude;
    if (options.gaps) {
        const GapModel model = modelOf(trace, options, survey);
        interlude.emplace(model, survey.locality, survey.header.between, survey.threads.size());
    }
    PlanWriter writer(options.plan, survey.threads.size());
    Encoder encoder(writer, survey.passed, survey.threads.size(), survey.header,
                    interlude ? &*interlude : nullptr);
    Ledger ledger(trace, process, indexOf);
    Step step;
    while (ledger.next(step)) {
        encoder.encode(step, ledger.first());
    }
    std::uint32_t later = endOfWindows;
    for (std::size_t at = survey.threads.size(); at-- > 0;) {
        PlanThread& thread = survey.threads[at];
        thread.slots = encoder.ownSlots(at);
        thread.window = encoder.firstWindow(at);
        later = std::min(later, thread.window);
        thread.later = later;
    }
    survey.header.sharedSlots = encoder.sharedSlots();
    if (interlude) {
        survey.header.between = interlude->done();
    }
    return writer.close(survey.header, std::move(survey.threads));
}

} // namespace heapwright::replayer

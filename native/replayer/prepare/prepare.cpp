// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See prepare.hpp.
#include "prepare.hpp"

#include "encoder.hpp"
#include "ledger.hpp"

#include <algorithm>
#include <functional>
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

Survey surveyTrace(const trace::Trace& trace, std::uint32_t process,
                   std::vector<std::uint32_t>& indexOf) {
    Survey survey;
    indexOf = orderThreads(trace, process, survey.threads);
    std::vector<std::uint64_t> last(survey.threads.size());
    std::vector<bool> seen(survey.threads.size());
    Ledger ledger(trace, process, indexOf);
    Step step;
    while (ledger.next(step)) {
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
    survey.header.process = process;
    survey.header.events = ledger.operations();
    survey.header.peakBytes = ledger.peakBytes();
    survey.header.peakObjects = ledger.peakObjects();
    survey.header.peakOperation = ledger.peakOperation();
    survey.header.nanoseconds = ledger.now();
    survey.header.oddities = ledger.oddities();
    return survey;
}

} // namespace

PlanHeader prepare(const PrepareOptions& options) {
    const trace::Trace trace(options.trace);
    const std::uint32_t process =
        options.process == PrepareOptions::busiest ? busiestProcess(trace) : options.process;
    std::vector<std::uint32_t> indexOf;
    Survey survey = surveyTrace(trace, process, indexOf);
    survey.header.order = options.order;
    survey.header.aheadBytes = Windows::boundFor(survey.header.peakBytes);
    survey.header.paced = options.paced ? 1 : 0;

    PlanWriter writer(options.plan, survey.threads.size());
    Encoder encoder(writer, survey.passed, survey.threads.size(), survey.header);
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
    return writer.close(survey.header, std::move(survey.threads));
}

} // namespace heapwright::replayer

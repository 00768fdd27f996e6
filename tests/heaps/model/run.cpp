// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include "fibers.hpp"

#include <heapwright/sync/thread_slot.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <utility>

namespace heapwright::testing::model {
namespace {

constexpr std::size_t mostSteps = 5'000;

bool isOnLock(Event event) {
    return event == Event::lockTaking || event == Event::lockTrying || event == Event::lockFreeing;
}

/// The run that goes on.
struct Current {
    Fibers fibers;
    Run::View view;
    Scenario* scenario = nullptr;
    const Run::Pilot* pilot = nullptr;
    Run::Outcome outcome;
    std::vector<const volatile void*> held; ///< the locks that threads have
    std::uint64_t life = 0; ///< of the threads of this run: it grows from run to run
    bool active = false;
};

Current& current() {
    static Current state;
    return state;
}

bool isHeld(const volatile void* lock) {
    const auto& held = current().held;
    return std::find(held.begin(), held.end(), lock) != held.end();
}

[[noreturn]] void leaveForGood() {
    current().fibers.switchTo(Fibers::main);
    std::abort(); // no thread returns
}

/// Which threads can go on.
void findEnabled() {
    Current& now = current();
    now.view.enabled = 0;
    for (std::size_t thread = 0; thread < now.view.threads; ++thread) {
        Operation& next = now.view.next[thread];
        next.failing = next.event == Event::lockTrying && isHeld(next.address);
        const bool waits = next.event == Event::lockTaking && isHeld(next.address);
        const std::uint32_t bit = 1U << thread;
        now.view.enabled |= (now.view.ended & bit) == 0 && !waits ? bit : 0;
    }
}

/// Hands over to the thread that the pilot chooses. Returns when the calling thread may continue.
void goOn() {
    Current& now = current();
    findEnabled();
    if (now.view.enabled == 0) {
        const bool over = now.view.ended == (1U << now.view.threads) - 1;
        if (!over) {
            now.outcome.failure = "deadlock: each thread waits for a lock that another has";
        }
        leaveForGood();
    }
    if (now.outcome.schedule.size() == mostSteps) {
        now.outcome.failure = "it does not end";
        leaveForGood();
    }
    const std::size_t chosen = (*now.pilot)(now.view);
    if (((now.view.enabled >> chosen) & 1U) == 0) {
        now.outcome.failure = "the schedule is not one of this scenario";
        leaveForGood();
    }
    now.outcome.schedule.push_back(chosen);
    now.outcome.operations.push_back(now.view.next[chosen]);
    now.view.last = chosen;
    if (chosen != now.fibers.running()) {
        now.fibers.switchTo(chosen);
    }
}

void runThread(std::size_t thread) {
    Current& now = current();
    // All steps that another thread can see come after the first handing over.
    now.scenario->thread(thread);
    giveThreadSlotBack();
    now.view.ended |= 1U << thread;
    goOn();
    leaveForGood();
}

void step(Event event, const volatile void* address) {
    Current& now = current();
    const std::size_t me = now.fibers.running();
    const bool failedJustNow = now.view.next[me].failing && now.view.next[me].address == address;
    now.view.next[me] = {event, address, false};
    if (event == Event::lockTaking && isHeld(address) && !failedJustNow) {
        ++now.outcome.lockFailures;
    }
    goOn();
    if (event == Event::lockFreeing) {
        std::erase(now.held, address);
    } else if (event == Event::lockTrying && isHeld(address)) {
        ++now.outcome.lockFailures;
    }
}

void handle(int signal) {
    if (current().active) {
        fail(signal == SIGABRT ? "the heap ended the program" : "a wrong address was used");
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

/// While it exists, what would end the program ends the run instead.
class Watch {
public:
    Watch() : abort_(std::signal(SIGABRT, &handle)), fault_(std::signal(SIGSEGV, &handle)) {}
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch() {
        std::signal(SIGABRT, abort_);
        std::signal(SIGSEGV, fault_);
    }

private:
    void (*abort_)(int);
    void (*fault_)(int);
};

} // namespace

bool areDependent(const Operation& one, const Operation& other) {
    const auto onlyLooks = [](const Operation& operation) {
        return operation.event == Event::load || operation.failing;
    };
    return one.address == other.address && one.address != nullptr &&
           !(onlyLooks(one) && onlyLooks(other));
}

bool canBeSwapped(const Operation& earlier, const Operation& later) {
    return later.event != Event::lockTaking ||
           (earlier.event != Event::lockFreeing && !earlier.failing);
}

void fail(const std::string& what) {
    Current& now = current();
    if (now.outcome.failure.empty()) {
        now.outcome.failure = what;
    }
    if (now.fibers.running() != Fibers::main) {
        leaveForGood();
    }
}

Run::Outcome Run::of(Scenario& scenario, const Pilot& pilot) {
    Current& now = current();
    const Watch watch;
    now.scenario = &scenario;
    now.pilot = &pilot;
    now.outcome = {};
    now.held.clear();
    now.view = {};
    now.view.threads = scenario.threads();
    for (std::size_t thread = 0; thread < now.view.threads; ++thread) {
        now.fibers.make(thread, &runThread);
    }
    now.active = true;
    now.view.last = 0;
    findEnabled(); // all are
    const std::size_t first = pilot(now.view);
    now.outcome.schedule.push_back(first);
    now.outcome.operations.push_back({});
    now.view.last = first;
    now.fibers.switchTo(first);
    now.active = false;
    if (now.outcome.failure.empty()) {
        scenario.atEnd();
    } else {
        keepOnlyMySlot(); // its threads never leave
    }
    giveThreadSlotBack();
    now.life += platform::ScheduledThread::most;
    return std::move(now.outcome);
}

std::string Run::trace(const Outcome& outcome) {
    static constexpr std::array<const char*, 10> names = {
        "reads", "writes", "changes", "writes", "tries", "takes", "", "", "begins", "frees"};
    std::map<const volatile void*, std::size_t> words;
    std::string text;
    for (std::size_t at = 0; at < outcome.schedule.size(); ++at) {
        const Operation& step = outcome.operations[at];
        text += "  " + std::to_string(at) + ": thread " + std::to_string(outcome.schedule[at]) +
                " " + names.at(static_cast<std::size_t>(step.event));
        if (step.address != nullptr) {
            const auto [word, added] = words.try_emplace(step.address, words.size());
            text += (isOnLock(step.event) ? " lock " : " word ") + std::to_string(word->second);
        }
        text += "\n";
    }
    return text;
}

} // namespace heapwright::testing::model

namespace heapwright {

void scheduleEvent(Event event, const volatile void* address) noexcept {
    using namespace testing::model;
    Current& now = current();
    if (!now.active) {
        return;
    }
    switch (event) {
    case Event::load:
    case Event::store:
    case Event::readModifyWrite:
    case Event::written:
    case Event::lockTaking:
    case Event::lockTrying:
    case Event::lockFreeing:
        step(event, address);
        break;
    case Event::lockTaken:
        ++now.outcome.lockTakes;
        now.held.push_back(address);
        break;
    case Event::lockWaiting:
        fail("a thread waits for a lock that it, or nobody, has");
        break;
    case Event::lockAtomic:
        break;
    }
}

platform::ScheduledThread platform::scheduledThread() noexcept {
    using namespace testing::model;
    const Current& now = current();
    const std::size_t place = now.fibers.running();
    return {place, now.life + place + 1, static_cast<std::uint32_t>(place)};
}

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include "call.hpp"

#include "recorder/attached/agreement.hpp"

#include <dlfcn.h>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace heapwright::attach {

namespace {

using recorder::attached::Agreement;
using recorder::attached::Result;

constexpr std::chrono::seconds forOneCall{10};
constexpr std::chrono::milliseconds betweenChecks{5};
constexpr int mostChecks = 200;

const char* reason(Result result) {
    switch (result) {
    case Result::noTrace:
        return "it cannot open the trace for writing";
    case Result::noPages:
        return "it has no memory left for the recorder";
    case Result::none:
    case Result::done:
    case Result::noAddress:
    case Result::outOfOrder:
        break;
    }
    return "the recorder in it failed";
}

void demand(CallResult result) {
    switch (result) {
    case CallResult::done:
        return;
    case CallResult::refused:
        throw Refusal("a thread's stack or registers cannot be written");
    case CallResult::late:
        throw std::runtime_error("a call in it did not return within 10 seconds and continues by "
                                 "itself; heapwright attach --clear removes what it leaves");
    case CallResult::ended:
        throw Ended("the process ended meanwhile");
    }
}

/// A safe thread. Another one is taken if a signal has arrived for the first one.
class Caller {
public:
    explicit Caller(const Target& target) : target_(target) { take(); }

    void make(Call call) {
        if (thread_->keepsSignal()) {
            pause();
            take();
        }
        call.process = target_.pid();
        call.signalReturn = target_.signalReturn();
        demand(makeCall(*thread_, call, Clock::now() + forOneCall));
    }

    /// How long threads were stopped. Lets the thread continue.
    Clock::duration end() {
        pause();
        return stopped_;
    }

private:
    void take() {
        thread_.emplace(safeThread(target_));
        since_ = Clock::now();
    }

    void pause() {
        if (thread_) {
            thread_.reset();
            stopped_ += Clock::now() - since_;
        }
    }

    const Target& target_;
    std::optional<Thread> thread_;
    Clock::time_point since_;
    Clock::duration stopped_ = {};
};

void callAgent(const Target& target, Caller& caller, const char* name, Agreement& agreement) {
    const Symbols agent = target.agent();
    const auto function = agent.functions.find(name);
    if (function == agent.functions.end()) {
        throw Refusal("the recorder that it has loaded is not of this version");
    }
    Call call;
    call.function = function->second.begin;
    call.data = &agreement;
    call.bytes = sizeof agreement;
    caller.make(call);
}

void load(const Target& target, Caller& caller, const std::string& library) {
    std::vector<char> path(library.c_str(), library.c_str() + library.size() + 1);
    Call call;
    call.function = target.dlopen().begin;
    call.data = path.data();
    call.bytes = path.size();
    call.second = RTLD_NOW | RTLD_LOCAL;
    caller.make(call);
    if (!target.hasAgent()) {
        throw Refusal("it cannot load " + library + "; check that it may read the file");
    }
}

/// Pre: no thread is inside the agent, and no table leads there.
void unload(const Target& target, Caller& caller, std::uint64_t handle) {
    Call call;
    call.function = target.dlclose().begin;
    call.firstIsValue = true;
    call.value = handle;
    caller.make(call);
}

/// Restores the import tables, and keeps the recorder from the ends of threads.
Agreement stopAgent(const Target& target, Removed& removed) {
    Agreement agreement = {};
    Caller caller(target);
    callAgent(target, caller, "heapwright_attached_stop", agreement);
    removed.stopped += caller.end();
    return agreement;
}

/// Waits until no thread is inside the agent. Returns false if that does not happen.
bool waitUntilOutside(const Target& target, const Range& code, Removed& removed) {
    for (int checks = 0; !allOutside(target, code, removed.stopped); ++checks) {
        if (!target.isAlive()) {
            throw Ended("the process has ended");
        }
        if (checks == mostChecks) {
            return false;
        }
        std::this_thread::sleep_for(betweenChecks);
    }
    return true;
}

} // namespace

Begun begin(const Target& target, const std::string& library, const std::string& trace) {
    Agreement agreement = {};
    if (trace.size() >= sizeof agreement.trace) {
        throw Refusal("the path of the trace is too long");
    }
    trace.copy(agreement.trace, trace.size());
    Caller caller(target);
    load(target, caller, library);
    callAgent(target, caller, "heapwright_attached_begin", agreement);
    if (agreement.result != Result::done) {
        const Result why = agreement.result;
        if (const std::uint64_t handle = agreement.handle; handle != 0) {
            callAgent(target, caller, "heapwright_attached_release", agreement);
            unload(target, caller, handle);
        }
        throw Refusal(reason(why));
    }
    return {agreement.slots, caller.end()};
}

Removed remove(const Target& target) {
    Removed removed;
    Agreement agreement = stopAgent(target, removed);
    std::vector<Address> entries;
    for (std::uint32_t i = 0; i < agreement.entries && i < std::size(agreement.entry); ++i) {
        entries.push_back(~agreement.entry[i]);
    }
    const Symbols agent = target.agent();
    const Range object = {agent.textBegin & ~Address{0xFFFF}, agent.end};
    if (entries.empty() || holdsAny(target, entries, object)) {
        removed.left = "it has stored the address of a routine of the recorder";
        return removed;
    }
    const Range code = {agent.textBegin, agent.textEnd};
    // A thread that was inside during the first stop may have registered for its end once more.
    for (const bool again : {false, true}) {
        if (again) {
            agreement = stopAgent(target, removed);
        }
        if (!waitUntilOutside(target, code, removed)) {
            removed.left = "a thread was inside the recorder all the time";
            return removed;
        }
    }
    Caller caller(target);
    callAgent(target, caller, "heapwright_attached_release", agreement);
    unload(target, caller, agreement.handle);
    removed.stopped += caller.end();
    if (target.hasAgent()) {
        removed.left = "the loader did not unload the recorder";
    }
    return removed;
}

} // namespace heapwright::attach

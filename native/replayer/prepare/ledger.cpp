// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See ledger.hpp.
#include "ledger.hpp"

#include <algorithm>

namespace heapwright::replayer {

using trace::Routine;

Ledger::Ledger(const trace::Trace& trace, std::uint32_t process,
               const std::vector<std::uint32_t>& indexOf)
    : events_(trace, {process, true}), indexOf_(indexOf) {}

bool Ledger::next(Step& step) {
    if (!events_.next(step.event)) {
        return false;
    }
    const trace::Event& event = step.event;
    step.thread = indexOf_.at(event.thread);
    step.act = Action::skip;
    step.old = {};
    step.wasReleased = false;
    step.overwritten = {};
    step.made = nullptr;
    first_ = last_ == 0 ? event.began : first_;
    last_ = std::max(last_, event.time);
    if (event.routine == Routine::release) {
        release(step);
        return true;
    }
    step.operation = ++operations_;
    if (trace::isFree(event.routine)) {
        end(step);
    } else if (trace::isRealloc(event.routine)) {
        resize(step);
    } else {
        allocate(step);
    }
    return true;
}

void Ledger::allocate(Step& step) {
    if (step.event.address == 0) {
        ++oddities_.failed;
        return;
    }
    step.act = Action::allocate;
    make(step);
}

void Ledger::end(Step& step) {
    if (step.event.address == 0) {
        ++oddities_.nullFrees;
        step.act = Action::free;
        return;
    }
    step.old = live_.take(step.event.address);
    if (step.old.address == 0) {
        ++oddities_.unknownFrees;
        return;
    }
    left(step.old);
    step.act = Action::free;
}

/// Said by the reader of a realloc that moves its block, when the call is entered.
void Ledger::release(Step& step) {
    step.old = live_.take(step.event.address);
    if (step.old.address != 0) {
        left(step.old);
    }
    step.act = Action::released;
    moving_[step.thread] = step.old;
}

void Ledger::resize(Step& step) {
    const trace::Event& event = step.event;
    const auto moving = moving_.find(step.thread);
    const bool failed = event.address == 0 && event.size != 0;
    if (failed && moving == moving_.end()) {
        ++oddities_.failed;
        return;
    }
    if (moving != moving_.end()) {
        step.old = moving->second;
        step.wasReleased = step.old.address != 0;
        moving_.erase(moving);
    } else if (event.old != 0) {
        step.old = live_.take(event.old);
        if (step.old.address != 0) {
            left(step.old);
        }
    }
    if (event.old != 0 && step.old.address == 0) {
        ++oddities_.unknownReallocs;
    }
    if (event.address != 0) {
        step.act = Action::resize;
        make(step);
    } else if (step.old.address != 0) {
        step.act = Action::resize; // to nothing: it was a free
    }
}

void Ledger::make(Step& step) {
    const trace::Event& event = step.event;
    step.overwritten = live_.take(event.address);
    if (step.overwritten.address != 0) {
        ++oddities_.overwritten;
        left(step.overwritten);
    }
    live_.put({.address = event.address,
               .size = event.size,
               .number = allocations_++,
               .alignment = event.alignment,
               .thread = step.thread,
               .routine = event.routine});
    step.made = live_.find(event.address);
    liveBytes_ += event.size;
    peakObjects_ = std::max<std::uint64_t>(peakObjects_, live_.count());
    if (liveBytes_ > peakBytes_) {
        peakBytes_ = liveBytes_;
        peakOperation_ = operations_;
    }
}

void Ledger::left(const Object& object) {
    liveBytes_ -= object.size;
}

void Ledger::close() {
    oddities_.neverFreed = 0;
    oddities_.neverFreedBytes = 0;
    live_.each([this](const Object& object) {
        ++oddities_.neverFreed;
        oddities_.neverFreedBytes += object.size;
    });
}

} // namespace heapwright::replayer

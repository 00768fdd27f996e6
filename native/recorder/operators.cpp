// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The recorder's side of operators.c: records the program's calls, unless the program replaces the
// operators.
#include "operators.h"

#include "operator_fallback.hpp"
#include "record.hpp"

using namespace heapwright::recorder;

extern "C" {

bool heapwright_enter() {
    Thread& self = thisThread;
    if (programReplacesOperators || !isOutermost(self)) {
        return false;
    }
    enter(self, State::inside);
    return true;
}

void heapwright_leave_new(heapwright_new* call) {
    if (!call->recorded) {
        return;
    }
    Thread& self = thisThread;
    const auto routine = static_cast<Routine>(call->routine);
    if (self.rest == State::idle && routine == Routine::operatorNew) [[likely]] {
        noteAllocatedPlainly(self, Routine::operatorNew, call->result, call->size);
    } else {
        noteAllocated(self, routine, call->result, call->size, call->alignment, call->frame);
    }
}

bool heapwright_enter_delete(std::uint8_t routine, const void* object) {
    Thread& self = thisThread;
    if (programReplacesOperators || !isOutermost(self)) {
        return false;
    }
    const auto which = static_cast<Routine>(routine);
    if (self.rest != State::idle || !noteFreedPlainly(self, which, object)) {
        noteFreed(self, which, object);
    }
    return true;
}

void heapwright_leave_delete() {
    Thread& self = thisThread;
    enter(self, self.rest);
}

} // extern "C"

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The account around operator new and delete (native/recorder/operators.c passes them on).
#include "runtime.hpp"

#include "recorder/operator_fallback.hpp"
#include "recorder/operators.h"

using heapwright::drag::runtime;

extern "C" {

bool heapwright_enter() {
    return !heapwright::recorder::programReplacesOperators && runtime.enter();
}

void heapwright_leave_new(heapwright_new* call) {
    if (call->recorded) {
        runtime.allocated(call->result, call->size, call->frame);
        runtime.leave();
    }
}

bool heapwright_enter_delete(std::uint8_t, const void* object) {
    if (!heapwright_enter()) {
        return false;
    }
    runtime.freed(object);
    return true;
}

void heapwright_leave_delete() {
    runtime.leave();
}

} // extern "C"

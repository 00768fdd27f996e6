// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// This library's side of recorder/operators.c: counts the program's calls of operator new and
// delete, unless the program replaces the operators.
#include "recorder/operators.h"

#include "counts.hpp"
#include "recorder/operator_fallback.hpp"

using namespace heapwright::limit;

extern "C" {

bool heapwright_enter() {
    Thread& self = thisThread;
    if (heapwright::recorder::programReplacesOperators ||
        (self.idle == nullptr && !isOutermost(self))) {
        return false;
    }
    self.idle = nullptr;
    self.inside = true;
    return true;
}

void heapwright_leave_new(heapwright_new* call) {
    if (!call->recorded) {
        return;
    }
    Thread& self = thisThread;
    if (call->result != nullptr) {
        if (self.line != nullptr) {
            noteAllocated(*self.line, call->result, call->size);
        } else {
            noteAllocatedShared(call->result, call->size);
        }
    }
    heapwright_leave_delete();
}

bool heapwright_enter_delete(std::uint8_t, const void* object) {
    if (object == nullptr || !heapwright_enter()) {
        return false;
    }
    Thread& self = thisThread;
    void* const block = const_cast<void*>(object);
    if (self.line != nullptr) {
        noteFreed(*self.line, block);
    } else {
        noteFreedShared(block);
    }
    return true;
}

void heapwright_leave_delete() {
    Thread& self = thisThread;
    self.inside = false;
    self.idle = self.line;
}

} // extern "C"

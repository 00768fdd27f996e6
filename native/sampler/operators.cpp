// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// This library's side of recorder/operators.c. Most operators call malloc, which then counts the
// block. An allocator that serves operator new itself leaves that to the functions here.
#include "recorder/operators.h"

#include "sampling.hpp"

using namespace heapwright::sampler;

extern "C" {

bool heapwright_enter() {
    Thread& self = thisThread;
    if (self.left == 0 && !beginThread(self)) [[unlikely]] {
        return false;
    }
    self.before = self.left;
    return true;
}

void heapwright_leave_new(heapwright_new* call) {
    if (!call->recorded) {
        return;
    }
    Thread& self = thisThread;
    if (self.left == self.before) {
        count(self, call->result, call->size, call->frame);
    }
}

bool heapwright_enter_delete(std::uint8_t, const void* object) {
    if (samples.mayHold(object)) [[unlikely]] {
        forget(object);
    }
    return false; // nothing is to be done afterwards
}

void heapwright_leave_delete() {}

} // extern "C"

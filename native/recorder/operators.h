/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The interface between operators.c and the recorder. An exception may leave the operators of C++
 * in operators.c. The recorder is C++ without exceptions.
 *
 * A call of operator new is entered at its start. `cleanup` leaves it at the end of its scope, also
 * after an exception, which is recorded as a failed allocation.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(hidden)

/* One call of operator new. */
struct heapwright_new {
    void* result; /* null until it has returned */
    size_t size;
    size_t alignment; /* 0 for the plain forms */
    const void* frame;
    uint8_t routine; /* as in the trace */
    bool recorded;
};

/* Whether the call is to be recorded; if so the thread is inside it from now on. */
bool heapwright_enter(void);
void heapwright_leave_new(struct heapwright_new* call);

/* Records a delete that is about to happen, if it is to be; whether it must be left afterwards. */
bool heapwright_enter_delete(uint8_t routine, const void* object);
void heapwright_leave_delete(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * All threads' malloc writes one line (a counter that is not atomic, and so of no use). Each
 * thread's free writes a line of its own.
 */
#include "bump.h"

static _Alignas(64) volatile long counter[8];
static _Thread_local _Alignas(64) volatile long own[8];

static void onMalloc(void) {
    counter[0] = counter[0] + 1;
}
static void onFree(void* object) {
    own[0] = own[0] + 1;
    (void)object;
}

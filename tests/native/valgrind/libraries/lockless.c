/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing locks, and no line of it is written by two threads.
 */
#include "bump.h"

static void onMalloc(void) {}
static void onFree(void* object) {
    (void)object;
}

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * An access to an object, which no compiler leaves out. The programs here allocate nothing but what
 * they say: no streams, no messages.
 */
#ifndef HEAPWRIGHT_TESTS_DRAG_USE_H
#define HEAPWRIGHT_TESTS_DRAG_USE_H

#include <stdlib.h>

static inline void use(void* object) {
    *(volatile char*)object = 1;
}

#endif

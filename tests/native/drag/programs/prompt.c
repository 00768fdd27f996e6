/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each object is freed when it was used: there is no drag. Malloc has an address here, which in an
 * executable at a fixed place is one in the executable.
 */
#include "use.h"

static void* (*volatile make)(size_t) = malloc;

int main(void) {
    for (size_t i = 0; i < 50; ++i) {
        void* const object = make(100 + i);
        use(object);
        free(object);
    }
    return 0;
}

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A library with a dependency on the C library of its own (plugin_host.c). */
#include <stdlib.h>

void* make(void) {
    return malloc(888);
}

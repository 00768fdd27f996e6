/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What late.c opens.
 */
#include <stdlib.h>

void* makeLate(size_t size);

void* makeLate(size_t size) {
    char* const object = malloc(size);
    object[size - 1] = 1;
    return object;
}

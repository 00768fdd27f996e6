// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The library in a folder of its own; see caller.c.
#include <stdlib.h>

void* neighbourMake(void);

void* neighbourMake(void) {
    return malloc(123);
}

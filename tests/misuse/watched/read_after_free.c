// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A byte of a freed object is read, and told.
// under debug: reads db
// under guard: SIGSEGV
// under canary: reads 41
// under quarantine: reads f5
// under granary: reads 41
// under granary-hardened: reads f5
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char* object = malloc(100);
    memset(object, 'A', 100);
    free(object);
    fprintf(stderr, "reads %02x\n", ((volatile unsigned char*)object)[50]);
    return 0;
}

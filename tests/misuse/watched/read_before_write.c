// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A byte of a new object is read, and told.
// under debug: reads c3
// under guard: reads 00
// under canary: reads 00
// under quarantine: reads 00
// under granary: reads 00
// under granary-hardened: reads 00
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    unsigned char* object = malloc(5000);
    fprintf(stderr, "reads %02x\n", ((volatile unsigned char*)object)[50]);
    free(object);
    return 0;
}

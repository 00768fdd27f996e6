// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Every other one of many objects is freed, then the first word of each of these is written over,
// where a list of freed objects may have its link. Three more are asked for.
// under debug: SIGSEGV
// under guard: SIGSEGV
// under canary: nothing
// under quarantine: SIGSEGV
// under granary: SIGSEGV
// under granary-hardened: heapwright: malloc(): corrupted link
#include <stdlib.h>

enum { count = 20000 };
static long* volatile objects[count];

int main(void) {
    for (int i = 0; i < count; ++i) {
        objects[i] = malloc(48);
    }
    for (int i = 0; i < count; i += 2) {
        free(objects[i]);
    }
    for (int i = 0; i < count; i += 2) {
        *objects[i] = 0x4141414141414141;
    }
    for (int i = 0; i < 3; ++i) {
        *(char*)malloc(48) = 1;
    }
    return 0;
}

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Loses one block in ten for good, in `forget`; all others are freed soon. With an argument it
 * waits to be killed when it is through.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* volatile last;

__attribute__((noinline)) static void use(size_t size) {
    char* block = malloc(size);
    memset(block, 1, size);
    last = block;
    free(block);
    last = NULL;
}

__attribute__((noinline)) static void forget(size_t size) {
    char* block = malloc(size);
    memset(block, 1, size);
    last = block; /* until the next one */
}

/* What a call has left on the stack might look like a pointer. */
__attribute__((noinline)) static void wipe(void) {
    volatile char room[4096];
    for (size_t i = 0; i < sizeof room; ++i) {
        room[i] = 0;
    }
}

int main(int count, char** arguments) {
    (void)arguments;
    for (unsigned i = 0; i < 60000; ++i) {
        if (i % 10 == 0) {
            forget(1000);
        }
        use(200 + i % 700);
    }
    last = NULL;
    wipe();
    while (count > 1) {
        pause();
    }
    return 0;
}

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * errno is what the allocator makes it, over many blocks of the trace; the status says which call
 * did otherwise. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

int main(void) {
    for (int i = 0; i < 100000; ++i) {
        errno = 1234;
        void* volatile block = malloc(10 + (size_t)(i % 5000));
        if (errno != 1234) {
            return 1;
        }
        free(block);
        if (errno != 1234) {
            return 2;
        }
    }
    void* volatile none = malloc(SIZE_MAX / 2);
    return none == NULL && errno == ENOMEM ? 0 : 3;
}

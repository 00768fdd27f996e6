/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program with a malloc of its own, which stands before that of any library.
 */
#include "use.h"

static char memory[1 << 16];
static size_t taken;

void* malloc(size_t size) {
    void* const object = memory + taken;
    taken += (size + 15) & ~(size_t)15;
    return taken <= sizeof memory ? object : NULL;
}

void free(void* object) {
    (void)object;
}

int main(void) {
    use(malloc(100));
    return 0;
}

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Frees an address that malloc never returned, so the allocator aborts the program. */
#include <stdlib.h>

int main(void) {
    static _Alignas(16) char bytes[256];
    void* volatile block = bytes + 64;
    free(malloc(10));
    free(block);
    return 0;
}

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Blocks at many addresses, live at once; half of them are resized, which moves some. */
#include <stdlib.h>

enum { count = 20000 };

int main(void) {
    static void* blocks[count];
    for (int i = 0; i < count; ++i) {
        blocks[i] = malloc(64);
    }
    for (int i = 0; i < count; i += 2) {
        blocks[i] = realloc(blocks[i], 640);
    }
    for (int i = 0; i < count; ++i) {
        free(blocks[i]);
    }
    return 0;
}

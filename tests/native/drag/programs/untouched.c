/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Objects that are never used. The zeros of calloc count as no use.
 */
#include <stdlib.h>

enum { count = 30 };

int main(void) {
    static void* objects[2 * count];
    for (int i = 0; i < 2 * count; i += 2) {
        objects[i] = malloc(48);
        objects[i + 1] = calloc(3, 10);
    }
    for (int i = 0; i < 2 * count; ++i) {
        free(objects[i]);
    }
    return 0;
}

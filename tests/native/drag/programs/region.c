/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A region: each object is used when it is made, and all are freed at the end.
 */
#include "use.h"

enum { count = 100, size = 64 };

static void* make(void) {
    void* const object = malloc(size);
    use(object);
    return object;
}

int main(void) {
    static void* objects[count];
    for (int i = 0; i < count; ++i) {
        objects[i] = make();
    }
    for (int i = 0; i < count; ++i) {
        free(objects[i]);
    }
    return 0;
}

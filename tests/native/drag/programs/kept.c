/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing is freed, and all of it is used at the very end: there is no drag.
 */
#include "use.h"

enum { count = 40 };

int main(void) {
    static void* objects[count];
    for (int i = 0; i < count; ++i) {
        objects[i] = malloc(24);
    }
    for (int i = 0; i < count; ++i) {
        use(objects[i]);
    }
    return 0;
}

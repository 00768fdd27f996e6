/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Objects of all the routines that align.
 */
#define _GNU_SOURCE
#include "use.h"

#include <malloc.h>

enum { count = 5 };

static void* used(void* object) {
    use(object);
    return object;
}

int main(void) {
    void* objects[count];
    objects[0] = used(memalign(64, 40));
    objects[1] = used(aligned_alloc(64, 64));
    if (posix_memalign(&objects[2], 4096, 72) != 0) {
        return 1;
    }
    use(objects[2]);
    objects[3] = used(valloc(50));
    objects[4] = used(pvalloc(5000));
    use((char*)objects[2] + 71);
    free(malloc(0));
    for (int i = 0; i < count; ++i) {
        free(objects[i]);
    }
    return 0;
}

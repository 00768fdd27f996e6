// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An object from a destroyed reap.
// aborts: heapwright: reap_malloc(): destroyed reap
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    heapwright_reap_destroy(reap);
    return heapwright_reap_malloc(reap, 100) == NULL;
    return 0;
}

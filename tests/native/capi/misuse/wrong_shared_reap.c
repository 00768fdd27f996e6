// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An object of a shared reap freed to another.
// aborts: heapwright: reap_free(): object of another reap
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    struct heapwright_reap* one = heapwright_reap_create_shared(NULL);
    struct heapwright_reap* other = heapwright_reap_create_shared(NULL);
    heapwright_reap_free(one, heapwright_reap_malloc(other, 100));
    return 0;
}

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A reap destroyed twice.
// aborts: heapwright: reap_destroy(): destroyed reap
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    heapwright_reap_destroy(reap);
    heapwright_reap_destroy(reap);
    return 0;
}

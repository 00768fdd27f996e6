// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A reap destroyed after its parent, and with it.
// aborts: heapwright: reap_destroy(): reap destroyed with its parent
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    struct heapwright_reap* parent = heapwright_reap_create(NULL);
    struct heapwright_reap* reap = heapwright_reap_create(parent);
    heapwright_reap_destroy(parent);
    heapwright_reap_destroy(reap);
    return 0;
}

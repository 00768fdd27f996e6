// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A region where a reap is wanted.
// aborts: heapwright: reap_clear(): not a reap
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    heapwright_reap_clear((struct heapwright_reap*)heapwright_region_create(NULL));
    return 0;
}

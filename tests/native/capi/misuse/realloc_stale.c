// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The old address of an object that was given another size.
// aborts: heapwright: reap_free(): double free
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    void* object = heapwright_reap_malloc(reap, 100);
    void* same = heapwright_reap_realloc(reap, object, 90);
    heapwright_reap_free(reap, same == NULL ? NULL : object);
    return 0;
}

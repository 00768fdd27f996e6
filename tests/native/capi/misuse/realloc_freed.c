// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Another size for a freed object.
// aborts: heapwright: reap_realloc(): use of a freed object
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    void* object = heapwright_reap_malloc(reap, 100);
    heapwright_reap_free(reap, object);
    return heapwright_reap_realloc(reap, object, 200) == NULL;
    return 0;
}

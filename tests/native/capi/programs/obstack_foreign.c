// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Frees an object that is on no obstack.
#include <heapwright/c/obstack.h>

#include <stdlib.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

int main(void) {
    struct obstack h;
    int stranger;
    obstack_init(&h);
    obstack_free(&h, &stranger);
    return 0;
}

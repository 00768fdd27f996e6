// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An obstack whose chunks are allocated in a reap and end with it. It uses only the public
// interfaces of both.
#include <heapwright/c/obstack.h>
#include <heapwright/c/reap.h>

static void* chunkOfReap(void* reap, size_t size) {
    return heapwright_reap_malloc(reap, size);
}

static void releaseToReap(void* reap, void* chunk) {
    heapwright_reap_free(reap, chunk);
}

int heapwright_obstack_begin_in(struct obstack* h, size_t size, size_t alignment,
                                struct heapwright_reap* reap) {
    return heapwright_obstack_begin_with_argument(h, size, alignment, chunkOfReap, releaseToReap,
                                                  reap);
}

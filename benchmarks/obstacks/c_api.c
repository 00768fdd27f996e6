// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The load on the obstacks of Heapwright's C interface. It differs in one line from that on the C
// library's.
#include <heapwright/c/obstack.h>
#include <stdlib.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

static struct obstack stack;

__attribute__((constructor)) static void begin(void) {
    obstack_init(&stack);
}

#define GROW_CHAR(c) obstack_1grow(&stack, (c))
#define GROW(bytes, size) obstack_grow(&stack, (bytes), (size))
#define FINISH() obstack_finish(&stack)
#define ALLOCATE(size) obstack_alloc(&stack, (size))
#define FREE(object) obstack_free(&stack, (object))
#include "parse.h"

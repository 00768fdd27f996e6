// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The load on the obstacks of the C library.
#include <obstack.h>
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
// Its macros convert a size_t to an int and back.
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include "parse.h"

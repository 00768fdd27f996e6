// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Where there is no memory the handler is called, and the contents of the obstack are unharmed. The
// initial handler ends the program with the status of `obstack_exit_failure`.
#include "obstack_header.h"

#include "check.h"

#include <setjmp.h>
#include <string.h>

#define obstack_chunk_alloc scarceMalloc
#define obstack_chunk_free free

static int left = 1;
static jmp_buf back;

static void* scarceMalloc(size_t size) {
    return left-- > 0 ? malloc(size) : NULL;
}

static void handler(void) {
    longjmp(back, 1);
}

int main(void) {
    struct obstack h;
    obstack_init(&h);
    obstack_grow(&h, "kept", 5);
    void (*first)(void) = obstack_alloc_failed_handler;
    obstack_alloc_failed_handler = handler;
    if (setjmp(back) == 0) {
        obstack_blank(&h, 100000);
        CHECK(!"reached");
    }
    printf("%s %d\n", (char*)obstack_base(&h), (int)obstack_object_size(&h));
    left = 1;
    obstack_blank(&h, 100000);
    printf("%s %d\n", (char*)obstack_base(&h), (int)obstack_object_size(&h));
    fflush(stdout);
    obstack_alloc_failed_handler = first;
    obstack_exit_failure = 7;
    left = 0;
    obstack_blank(&h, 1000000);
    return 0;
}

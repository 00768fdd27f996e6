// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Random histories of an obstack against a stack of texts that malloc keeps. Prints a digest of
// what happened, the same for every obstack.
#include "obstack_header.h"

#include "check.h"

#include <string.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

enum { kSteps = 20000, kMost = 4000 };

struct Text {
    char* object;
    char* bytes;
    size_t size;
};

static struct Text stack[kMost];
static size_t height;
static char growing[200000];
static size_t grown;

static void grow(struct obstack* h, uint32_t* random) {
    char piece[3000];
    size_t most = nextRandom(random) % 8 == 0 ? sizeof piece : 40;
    size_t size = nextRandom(random) % most;
    if (grown + size + 1 > sizeof growing)
        return;
    memset(piece, (int)nextRandom(random), size);
    obstack_grow(h, piece, (int)size);
    memcpy(growing + grown, piece, size);
    grown += size;
    obstack_1grow(h, (char)size);
    growing[grown++] = (char)size;
}

static void finish(struct obstack* h) {
    struct Text* text = &stack[height++];
    text->size = grown;
    text->bytes = malloc(grown + 1);
    CHECK(text->bytes != NULL);
    memcpy(text->bytes, growing, grown);
    text->object = obstack_finish(h);
    grown = 0;
}

/// Frees one and all that came after it, and looks at all of them before.
static void freeFrom(struct obstack* h, size_t index) {
    for (size_t i = 0; i < height; ++i)
        CHECK(memcmp(stack[i].object, stack[i].bytes, stack[i].size) == 0);
    obstack_free(h, stack[index].object);
    CHECK(obstack_base(h) == (void*)stack[index].object);
    while (height > index)
        free(stack[--height].bytes);
    grown = 0;
}

static unsigned history(uint32_t seed, int chunk, int mask) {
    struct obstack h;
    unsigned digest = 0;
    obstack_begin(&h, chunk);
    obstack_alignment_mask(&h) = mask;
    obstack_finish(&h);
    for (int step = 0; step < kSteps; ++step) {
        unsigned action = nextRandom(&seed) % 40;
        if (action < 20)
            grow(&h, &seed);
        else if (action < 38 && height < kMost)
            finish(&h);
        else if (height > 0)
            freeFrom(&h, height - 1 - nextRandom(&seed) % height / 4);
        CHECK((size_t)obstack_object_size(&h) == grown);
        CHECK(memcmp(obstack_base(&h), growing, grown) == 0);
        digest = digest * 31 + (unsigned)(height * 7 + grown);
    }
    if (height > 0)
        freeFrom(&h, 0);
    obstack_free(&h, NULL);
    return digest;
}

int main(void) {
    printf("%u\n", history(1, 0, 15));
    printf("%u\n", history(2, 128, 15));
    printf("%u\n", history(3, 1000, 0));
    printf("%u\n", history(4, 4064, 255));
    return 0;
}

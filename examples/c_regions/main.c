/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is freed at once, in C. Words grow piece by piece on an obstack, as in a scanner, and
 * are kept in a region. Each line has a region inside another one. All objects of a line are freed
 * when its region is cleared. */
#include <heapwright/c/obstack.h>
#include <heapwright/c/region.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

struct word {
    struct word* next;
    char* text;
};

/* The words of a line, the last first, all in the region. */
static struct word* words_of(const char* line, struct heapwright_region* region,
                             struct obstack* scratch) {
    struct word* list = NULL;
    while (*line != '\0') {
        while (isspace((unsigned char)*line)) {
            ++line;
        }
        while (*line != '\0' && !isspace((unsigned char)*line)) {
            obstack_1grow(scratch, (char)toupper((unsigned char)*line++));
        }
        if (obstack_object_size(scratch) == 0) {
            break;
        }
        obstack_1grow(scratch, '\0');
        const size_t size = obstack_object_size(scratch);
        char* const built = obstack_finish(scratch);
        struct word* const word = heapwright_region_alloc(region, sizeof *word);
        char* const text = heapwright_region_alloc(region, size);
        if (word == NULL || text == NULL) {
            return NULL;
        }
        word->text = memcpy(text, built, size);
        word->next = list;
        list = word;
        obstack_free(scratch, built); /* and with it all that came after */
    }
    return list;
}

int main(void) {
    static const char* const lines[] = {"the heap is a stack", "of layers", "that is all"};
    struct obstack scratch;
    obstack_init(&scratch);
    struct heapwright_region* const program = heapwright_region_create(NULL);
    struct heapwright_region* const line = heapwright_region_create(program);
    if (program == NULL || line == NULL) {
        return 1;
    }
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; ++i) {
        for (const struct word* word = words_of(lines[i], line, &scratch); word != NULL;
             word = word->next) {
            printf("%s%c", word->text, word->next == NULL ? '\n' : ' ');
        }
        heapwright_region_clear(line);
    }
    heapwright_region_destroy(program); /* the region inside goes with it */
    obstack_free(&scratch, NULL);
    return 0;
}

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Strings side by side, of which only some are read. Functions of the C library read whole vectors,
 * and so also the bytes beside the string.
 */
#include "use.h"

#include <string.h>

enum { count = 32, step = 8 };

static char* strings[count];

static void fill(void) {
    use(malloc(128));
}

int main(void) {
    static char other[320];
    char copy[320];
    memset(other, 'a', sizeof other - 1);
    size_t sum = 0;
    for (size_t i = 0; i < count; ++i) {
        strings[i] = malloc(257 + i);
        memset(strings[i], 'a', 256 + i);
        strings[i][256 + i] = '\0';
    }
    fill();
    for (int i = 0; i < count; i += step) {
        sum += strlen(strings[i]);
    }
    fill();
    for (int i = 1; i < count; i += step) {
        sum += (size_t)strcmp(strings[i], other);
    }
    fill();
    for (int i = 2; i < count; i += step) {
        sum += strchr(strings[i], 'b') == NULL;
    }
    fill();
    for (int i = 3; i < count; i += step) {
        strcpy(copy, strings[i]);
        sum += (size_t)copy[0];
    }
    for (int i = 0; i < count; ++i) {
        free(strings[i]);
    }
    return sum == 0;
}

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// resident SIZES OBJECTS: allocates and writes OBJECTS objects of each of SIZES sizes, 16 bytes
// apart from 80. Prints the KiB that are then resident in the mapping of the objects, and in the
// file of the allocator's library.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The resident KiB of the mapping that contains an address, or of all mappings of a file.
static long resident(const void* address, const char* file) {
    FILE* const maps = fopen("/proc/self/smaps", "r");
    char line[4096];
    int wanted = 0;
    long sum = 0;
    if (maps == NULL) {
        exit(2);
    }
    while (fgets(line, sizeof line, maps) != NULL) {
        unsigned long start = 0;
        unsigned long end = 0;
        long kibibytes = 0;
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2) {
            wanted = file != NULL ? strstr(line, file) != NULL
                                  : start <= (unsigned long)address && (unsigned long)address < end;
        } else if (wanted && sscanf(line, "Rss: %ld", &kibibytes) == 1) {
            sum += kibibytes;
        }
    }
    fclose(maps);
    return sum;
}

int main(int count, char** words) {
    if (count != 3) {
        return 2;
    }
    const size_t sizes = strtoul(words[1], NULL, 10);
    const size_t objects = strtoul(words[2], NULL, 10);
    char* last = NULL;
    for (size_t i = 0; i < sizes; ++i) {
        for (size_t j = 0; j < objects; ++j) {
            last = malloc(80 + 16 * i);
            if (last == NULL) {
                return 2;
            }
            memset(last, 1, 80 + 16 * i);
        }
    }
    printf("{\"objects\": %ld, \"library\": %ld}\n", resident(last, NULL),
           resident(NULL, "libheapwright-"));
    return 0;
}

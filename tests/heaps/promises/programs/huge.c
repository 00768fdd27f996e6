// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// huge MIB SIZE WRITTEN: allocates MIB of objects of SIZE bytes, and writes the first WRITTEN bytes
// of each. Prints the KiB of mappings for which huge pages are requested, and the KiB that are
// resident. Then it frees nearly all objects, returns all free memory, and prints the first again.
// One of 500 objects stays, so that chunks stay mapped.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Seen {
    long requested;
    long resident;
};

static struct Seen look(void) {
    FILE* const maps = fopen("/proc/self/smaps", "r");
    char line[4096];
    long size = 0;
    struct Seen seen = {0, 0};
    if (maps == NULL) {
        exit(2);
    }
    while (fgets(line, sizeof line, maps) != NULL) {
        long kibibytes = 0;
        if (sscanf(line, "Size: %ld", &kibibytes) == 1) {
            size = kibibytes;
        } else if (sscanf(line, "Rss: %ld", &kibibytes) == 1) {
            seen.resident += kibibytes;
        } else if (strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " hg") != NULL) {
            seen.requested += size;
        }
    }
    fclose(maps);
    return seen;
}

int main(int count, char** words) {
    if (count != 4) {
        return 2;
    }
    const size_t size = strtoul(words[2], NULL, 10);
    const size_t written = strtoul(words[3], NULL, 10);
    const size_t objects = (strtoul(words[1], NULL, 10) << 20) / size;
    char** const all = malloc(objects * sizeof *all);
    for (size_t i = 0; i < objects; ++i) {
        all[i] = malloc(size);
        memset(all[i], 1, written);
    }
    const struct Seen full = look();
    for (size_t i = 0; i < objects; ++i) {
        if (i % 500 != 0) {
            free(all[i]);
        }
    }
    malloc_trim(0);
    printf("{\"requested\": %ld, \"resident\": %ld, \"after\": %ld}\n", full.requested,
           full.resident, look().requested);
    return 0;
}

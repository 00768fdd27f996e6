// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// idle: allocates nothing. Prints the KiB that are resident in anonymous memory and in the file of
// the allocator's library. Pages of other libraries do not count, because their number depends on
// the kernel's cache of files.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char text[1 << 20]; // of /proc/self/smaps

int main(void) {
    const int file = open("/proc/self/smaps", O_RDONLY);
    size_t length = 0;
    for (ssize_t more = 1; more > 0 && length < sizeof text - 1; length += (size_t)more) {
        more = read(file, text + length, sizeof text - 1 - length);
        if (more < 0) {
            return 2;
        }
    }
    int counts = 0;
    long sum = 0;
    for (char* line = text; line != NULL && *line != '\0';) {
        char* const end = strchr(line, '\n');
        unsigned long address = 0;
        if (end != NULL) {
            *end = '\0';
        }
        if (strncmp(line, "Rss:", 4) == 0) {
            sum += counts ? strtol(line + 4, NULL, 10) : 0;
        } else if (sscanf(line, "%lx-%lx ", &address, &address) == 2) {
            counts = strchr(line, '/') == NULL || strstr(line, "libheapwright-") != NULL;
        }
        line = end != NULL ? end + 1 : NULL;
    }
    char answer[32];
    const int count = snprintf(answer, sizeof answer, "%ld\n", sum);
    return write(STDOUT_FILENO, answer, (size_t)count) == count ? 0 : 2;
}

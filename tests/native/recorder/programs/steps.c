/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * For each line that it reads, it allocates and frees blocks of the number of bytes in the line. It
 * answers with the line. The line `toggle` makes it send itself SIGUSR2. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    static char line[64];
    static char buffers[2][4096];
    setvbuf(stdin, buffers[0], _IOLBF, sizeof buffers[0]);
    setvbuf(stdout, buffers[1], _IOLBF, sizeof buffers[1]);
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (strcmp(line, "toggle\n") == 0) {
            raise(SIGUSR2);
        } else {
            const size_t size = (size_t)atol(line);
            for (int i = 0; i < 10; ++i) {
                free(malloc(size));
            }
        }
        fputs(line, stdout);
    }
    return 0;
}

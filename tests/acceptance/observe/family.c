// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocates, forks while its trace is in a buffer, and allocates on both sides. Argument 1 is a
// descriptor that it closes first, as daemons close descriptors that they did not open.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void use(size_t size) {
    for (int i = 0; i < 500; ++i) {
        free(malloc(size));
    }
}

int main(int argc, char** argv) {
    use(1001);
    if (argc > 1) {
        for (int i = 3; i < atoi(argv[1]); ++i) {
            close(i);
        }
    }
    pid_t child = fork();
    use(child == 0 ? 2002 : 3003);
    if (child == 0) {
        exit(0);
    }
    waitpid(child, NULL, 0);
    return 0;
}

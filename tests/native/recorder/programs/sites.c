// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Asks for memory in three places, one of which forgets it; a child does so, too.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void* leak(size_t bytes) {
    void* volatile object = malloc(bytes);
    return object;
}

__attribute__((noinline)) static void tidy(size_t bytes) {
    void* volatile object = malloc(bytes);
    free(object);
}

__attribute__((noinline)) static int deep(int depth, size_t bytes) {
    if (depth == 0) {
        tidy(bytes);
        return 0;
    }
    return deep(depth - 1, bytes) + 1;
}

int main(void) {
    for (int i = 0; i < 10; ++i) {
        void* volatile kept = leak(1000);
        (void)kept;
        deep(i, 100);
    }
    const pid_t child = fork();
    if (child == 0) {
        void* volatile kept = leak(5000);
        (void)kept;
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

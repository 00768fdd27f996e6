// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// errno: the witness has run before main and runs in fork handlers and waits; errno must not show
// it.
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int early;

__attribute__((constructor)) static void look(void) {
    early = errno;
}

int main(void) {
    errno = 1234;
    const pid_t pid = fork();
    if (pid == 0) {
        _exit(errno == 1234 ? 0 : 1);
    }
    const int afterFork = errno;
    int status = 0;
    const pid_t got = wait(&status);
    return early == 0 && afterFork == 1234 && got == pid && errno == 1234 ? status : 1;
}

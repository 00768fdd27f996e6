// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// ignores_signals: ignores every polite signal, in three processes: itself, a child, and a
// grandchild in a session of its own whose parent has gone. Says "ready" on standard error and
// stays for ever.
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

int main(void) {
    for (int number = 1; number < 32; ++number) {
        signal(number, SIG_IGN);
    }
    signal(SIGCHLD, SIG_DFL);
    if (fork() == 0) {
        if (fork() == 0) {
            setsid();
        } else if (fork() != 0) {
            _exit(0);
        }
    }
    static const char ready[] = "ready\n";
    if (write(2, ready, sizeof ready - 1) < 0) {
        return 1;
    }
    for (;;) {
        pause();
    }
}

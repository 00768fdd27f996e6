/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A signal handler that allocates comes all the time while the program does. Only an allocator
 * that can be interrupted bears that. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static volatile sig_atomic_t seen;

static void handle(int number) {
    (void)number;
    char* const block = malloc(555);
    memset(block, 1, 555);
    free(block);
    ++seen;
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval often = {{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &often, NULL);
    while (seen < 300) {
        char* const block = malloc(66);
        memset(block, 2, 66);
        free(block);
    }
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    return 0;
}

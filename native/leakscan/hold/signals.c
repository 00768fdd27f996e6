/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A signal that would end the process lets its memory be searched first, and ends it then: this is
 * how a server is ended. A second signal ends it at once. A signal that the program handles or
 * ignores stays the program's. The program does not see the handler here: it reads the default, and
 * where it sets the default it gets the handler.
 */
#define _GNU_SOURCE
#include "hold.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef int Sigaction(int, const struct sigaction*, struct sigaction*);

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

static Sigaction* nextSigaction(void) {
    static Sigaction* next;
    Sigaction* found = __atomic_load_n(&next, __ATOMIC_RELAXED);
    if (found == NULL) {
        void* const symbol = dlsym(RTLD_NEXT, "sigaction");
        memcpy(&found, &symbol, sizeof found);
        __atomic_store_n(&next, found, __ATOMIC_RELAXED);
    }
    return found;
}

static int ends(int number) {
    for (size_t at = 0; at < sizeof ending / sizeof *ending; ++at) {
        if (ending[at] == number) {
            return 1;
        }
    }
    return 0;
}

/* From here on the default is in force for each of the signals, so that a second one ends it. */
static void searchAndEnd(int number) {
    struct sigaction plain;
    memset(&plain, 0, sizeof plain);
    plain.sa_handler = SIG_DFL;
    for (size_t at = 0; at < sizeof ending / sizeof *ending; ++at) {
        struct sigaction now;
        if (nextSigaction()(ending[at], NULL, &now) == 0 && now.sa_handler == searchAndEnd) {
            nextSigaction()(ending[at], &plain, NULL);
        }
    }
    searchNow();
    syscall(SYS_kill, getpid(), number);
}

static struct sigaction searching(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = searchAndEnd;
    action.sa_flags = SA_NODEFER | SA_RESTART;
    return action;
}

EXPORT int sigaction(int number, const struct sigaction* wanted, struct sigaction* before) {
    const struct sigaction ours = searching();
    const int isDefault = wanted != NULL && wanted->sa_handler == SIG_DFL && ends(number);
    const int status = nextSigaction()(number, isDefault ? &ours : wanted, before);
    if (status == 0 && before != NULL && before->sa_handler == searchAndEnd) {
        memset(before, 0, sizeof *before);
        before->sa_handler = SIG_DFL;
    }
    return status;
}

EXPORT sighandler_t signal(int number, sighandler_t handler) {
    struct sigaction action;
    struct sigaction before;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, number);
    return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

__attribute__((constructor)) static void begin(void) {
    const int kept = errno;
    for (size_t at = 0; at < sizeof ending / sizeof *ending; ++at) {
        struct sigaction now;
        const struct sigaction ours = searching();
        if (nextSigaction()(ending[at], NULL, &now) == 0 && now.sa_handler == SIG_DFL) {
            nextSigaction()(ending[at], &ours, NULL);
        }
    }
    errno = kept;
}

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Processes that a pool takes with it, each kind. The system reports whether one is gone. */
#include "common.h"

#include <apr_thread_proc.h>

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static void on_term(int number) {
    (void)number;
    _exit(3);
}

/* A process that waits: for any signal, for a signal that it answers, for none, or not at all. */
static apr_proc_t* process(apr_pool_t* pool, char kind) {
    apr_proc_t* made = apr_pcalloc(pool, sizeof *made);
    int ready[2];
    MUST(pipe(ready) == 0);
    fflush(stdout);
    if (apr_proc_fork(made, pool) == APR_INCHILD) {
        if (kind == 'a') {
            signal(SIGTERM, on_term);
        } else if (kind == 'i') {
            signal(SIGTERM, SIG_IGN);
        }
        MUST(write(ready[1], "", 1) == 1);
        if (kind != 'e') {
            sleep(kind == 's' ? 1 : 100);
        }
        _exit(0);
    }
    char byte;
    MUST(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    close(ready[1]);
    return made;
}

static int gone(pid_t pid) {
    return kill(pid, 0) == -1 && errno == ESRCH;
}

static void ends(const char* name, char kind, apr_kill_conditions_e how) {
    apr_pool_t* pool = pool_in(NULL);
    apr_proc_t* made = process(pool, kind);
    const pid_t pid = made->pid;
    apr_pool_note_subprocess(pool, made, how);
    apr_pool_clear(pool);
    printf("%s: gone %d\n", name, gone(pid));
    kill(pid, SIGKILL);
    apr_pool_destroy(pool);
}

int main(void) {
    begin();
    ends("killed", 'i', APR_KILL_ALWAYS);
    ends("asked once", 'a', APR_KILL_ONLY_ONCE);
    ends("asked, with time", 'a', APR_KILL_AFTER_TIMEOUT);
    ends("waited for", 's', APR_JUST_WAIT);
    ends("left alone", 'i', APR_KILL_NEVER);
    apr_pool_t* pool = pool_in(NULL);
    pid_t pids[3];
    static const char kinds[] = "iae"; /* the first waits out its time */
    for (int i = 0; i < 3; ++i) {
        apr_proc_t* made = process(pool, kinds[i]);
        pids[i] = made->pid;
        apr_pool_note_subprocess(pool, made, APR_KILL_AFTER_TIMEOUT);
    }
    apr_pool_destroy(pool);
    printf("all gone %d %d %d\n", gone(pids[0]), gone(pids[1]), gone(pids[2]));
    return 0;
}

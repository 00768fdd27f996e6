/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * worker THREADS [MODE]: threads that allocate, check and free blocks all the time. The main thread
 * answers each line of its input with a line: `count N`, the blocks so far. A damaged block ends
 * the process with status 3. After the line `keep` the program stores the address of malloc, and
 * calls it at each line. In the mode `brief` the threads start others that end soon. In the mode
 * `fork` the main thread starts a child at each line. In the mode `seccomp` a filter permits every
 * system call. In the mode `plugin` it loads the library of plugin.c, given as the next word, which
 * checks its own blocks at each line. In the mode `vfork` the threads only wait, and after each
 * line one waits for a child in a state that no tracer can interrupt. The end of the input ends the
 * process with status 0. In the mode `leave` it ends only the main thread.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { blocks = 64 };

static atomic_ulong total;
static void* (*volatile kept)(size_t);

static void fill(unsigned char* block, size_t size) {
    memset(block, (unsigned char)size, size);
}

static _Thread_local unsigned char* held[blocks];
static _Thread_local size_t sizes[blocks];

static void check(const unsigned char* block, size_t size) {
    for (size_t i = 0; i < size; ++i) {
        if (block[i] != (unsigned char)size) {
            _exit(3);
        }
    }
}

static void churn(unsigned rounds) {
    for (unsigned round = 0; round < rounds; ++round) {
        const unsigned at = (unsigned)rand() % blocks;
        if (held[at] != NULL) {
            check(held[at], sizes[at]);
            if (round % 3 == 0) {
                free(held[at]);
                held[at] = NULL;
                continue;
            }
        }
        sizes[at] = 1 + (unsigned)rand() % 600;
        held[at] = realloc(held[at], sizes[at]);
        fill(held[at], sizes[at]);
        atomic_fetch_add(&total, 1);
    }
}

static void* run(void* unused) {
    for (;;) {
        churn(1000);
    }
    return unused;
}

static void* runBriefly(void* unused) {
    churn(20);
    for (unsigned at = 0; at < blocks; ++at) {
        free(held[at]);
    }
    return unused;
}

static atomic_int children; /* that are to be started */

static void* waitForChildren(void* unused) {
    const struct timespec awhile = {1, 500000000};
    const struct timespec moment = {0, 1000000};
    for (;;) {
        nanosleep(&moment, NULL);
        if (atomic_exchange(&children, 0) != 0) {
            const pid_t child = vfork();
            if (child == 0) {
                nanosleep(&awhile, NULL);
                _exit(0);
            }
            waitpid(child, NULL, 0);
        }
    }
    return unused;
}

static void* startThreads(void* unused) {
    for (;;) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, &runBriefly, NULL) == 0) {
            pthread_join(thread, NULL);
        }
    }
    return unused;
}

static void forkOnce(void) {
    const pid_t child = fork();
    if (child == 0) {
        churn(200);
        _exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) {
        _exit(4);
    }
}

static void permitEverything(void) {
    struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog program = {1, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        _exit(5);
    }
}

int main(int count, char** words) {
    const int threads = count > 1 ? atoi(words[1]) : 0;
    const char* const mode = count > 2 ? words[2] : "";
    if (strcmp(mode, "seccomp") == 0) {
        permitEverything();
    }
    for (int i = 0; i < threads; ++i) {
        pthread_t thread;
        pthread_create(&thread, NULL,
                       strcmp(mode, "brief") == 0   ? &startThreads
                       : strcmp(mode, "vfork") == 0 ? &waitForChildren
                                                    : &run,
                       NULL);
    }
    void (*work)(void) = NULL;
    if (strcmp(mode, "plugin") == 0) {
        void* const plugin = dlopen(words[3], RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
        *(void**)&work = dlsym(plugin, "work");
        work();
    }
    char line[64];
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        churn(500);
        atomic_store(&children, 1);
        if (strcmp(mode, "fork") == 0) {
            forkOnce();
        }
        if (work != NULL) {
            work();
        }
        if (strcmp(line, "keep\n") == 0) {
            kept = &malloc;
        }
        if (kept != NULL) {
            free(kept(24));
        }
        printf("count %lu\n", atomic_load(&total));
        fflush(stdout);
    }
    if (strcmp(mode, "leave") == 0) {
        pthread_exit(NULL);
    }
    return 0;
}

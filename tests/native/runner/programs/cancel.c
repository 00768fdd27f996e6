// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// cancel: a thread that waits for a child in each way is cancelled there, as POSIX promises.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;

static void* byWaitpid(void* unused) {
    waitpid(child, NULL, 0);
    return unused;
}

static void* byWait4(void* unused) {
    struct rusage usage;
    wait4(child, NULL, 0, &usage);
    return unused;
}

static void* byWaitid(void* unused) {
    siginfo_t info;
    waitid(P_PID, (id_t)child, &info, WEXITED);
    return unused;
}

int main(void) {
    void* (*const ways[])(void*) = {byWaitpid, byWait4, byWaitid};
    child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    int bad = 0;
    for (int i = 0; i < 3; ++i) {
        pthread_t thread;
        void* result = NULL;
        pthread_create(&thread, NULL, ways[i], NULL);
        usleep(20000);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        bad += result != PTHREAD_CANCELED;
    }
    kill(child, SIGKILL);
    siginfo_t info;
    const int got = waitid(P_ALL, 0, &info, WEXITED);
    return bad + (got != 0 || info.si_pid != child || info.si_status != SIGKILL);
}

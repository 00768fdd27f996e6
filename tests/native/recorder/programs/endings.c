/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Allocates COUNT blocks of 1,000 bytes, frees all but every tenth, then ends in the way that its
 * argument names, or has a child first. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void work(int count) {
    for (int i = 0; i < count; ++i) {
        void* volatile block = malloc(1000);
        if (i % 10 != 0) {
            free(block);
        }
    }
}

static void child(void) {
    work(50);
    syscall(SYS_exit_group, 0);
}

int main(int count, char** arguments) {
    const char* const way = arguments[1];
    work(count > 2 ? atoi(arguments[2]) : 100);
    if (strcmp(way, "kill") == 0) {
        kill(getpid(), SIGKILL);
    } else if (strcmp(way, "abort") == 0) {
        abort();
    } else if (strcmp(way, "_exit") == 0) {
        _exit(7);
    } else if (strcmp(way, "crash") == 0) {
        *(volatile int*)8 = 1;
    } else if (strcmp(way, "exit") == 0) {
        exit(5);
    } else if (strcmp(way, "exec") == 0) {
        execl("/proc/self/exe", "again", "_exit", (char*)0);
    } else if (strcmp(way, "fork") == 0) {
        if (fork() == 0) {
            child();
        }
        wait(NULL);
    } else if (strcmp(way, "clone") == 0) {
        if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) {
            child();
        }
        wait(NULL);
    } else if (strcmp(way, "vfork") == 0) {
        if (vfork() == 0) {
            free(malloc(777)); /* in the parent's heap, and so in its stream */
            execl("/proc/self/exe", "child", "exit", "50", (char*)0);
        }
        wait(NULL);
    } else if (strcmp(way, "close") == 0) {
        for (int i = 3; i < 1024; ++i) {
            close(i);
        }
        work(100000);
    }
    work(10);
    return 0;
}

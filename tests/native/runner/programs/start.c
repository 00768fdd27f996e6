// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// start HOW PROGRAM ARGUMENT...: Starts the program in one of the ways in which a process can be
// made. It waits for it unless it is to be left behind, and exits with its status.
//   fork vfork spawn exec   the usual ways; exec becomes the program
//   execv execvp execvpe execl execlp execle execve fexecve
//                           becomes it by that form of exec, with three arguments
//   nowait                  the kernel knows that no process waits (SIGCHLD ignored)
//   orphan                  from a grandchild whose parent has gone
//   empty                   with an empty environment
//   twice                   two at the same time
//   copy                    runs no program: a forked copy burns 60 ms itself
//   clone                   the same copy, made without the C library knowing
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

static int statusOf(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int waitFor(pid_t pid) {
    int status = 0;
    return waitpid(pid, &status, 0) == pid ? statusOf(status) : 99;
}

static void burn(void) {
    struct timespec used;
    do {
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    } while (used.tv_sec == 0 && used.tv_nsec < 60000000);
}

static pid_t forked(char** command, char** environment) {
    const pid_t pid = fork();
    if (pid == 0) {
        execve(command[0], command, environment);
        _exit(127);
    }
    return pid;
}

static pid_t vforked(char** command) {
    const pid_t pid = vfork();
    if (pid == 0) {
        execv(command[0], command);
        _exit(127);
    }
    return pid;
}

static int spawned(char** command) {
    pid_t pid = 0;
    return posix_spawn(&pid, command[0], NULL, NULL, command, environ) == 0 ? waitFor(pid) : 127;
}

static int unwaited(char** command) {
    signal(SIGCHLD, SIG_IGN);
    forked(command, environ);
    while (wait(NULL) > 0 || errno == EINTR) {
    }
    return 0;
}

static int orphaned(char** command) {
    const pid_t pid = fork();
    if (pid == 0) {
        forked(command, environ);
        _exit(0);
    }
    return waitFor(pid);
}

static int copied(pid_t pid) {
    if (pid == 0) {
        burn();
        _exit(0);
    }
    return waitFor(pid);
}

static void become(const char* how, char** c) {
    if (strcmp(how, "execvp") == 0) {
        execvp(c[0], c);
    } else if (strcmp(how, "execvpe") == 0) {
        execvpe(c[0], c, environ);
    } else if (strcmp(how, "execl") == 0) {
        execl(c[0], c[0], c[1], c[2], c[3], (char*)NULL);
    } else if (strcmp(how, "execlp") == 0) {
        execlp(c[0], c[0], c[1], c[2], c[3], (char*)NULL);
    } else if (strcmp(how, "execle") == 0) {
        execle(c[0], c[0], c[1], c[2], c[3], (char*)NULL, environ);
    } else if (strcmp(how, "execve") == 0) {
        execve(c[0], c, environ);
    } else if (strcmp(how, "fexecve") == 0) {
        fexecve(open(c[0], O_RDONLY | O_CLOEXEC), c, environ);
    } else {
        execv(c[0], c);
    }
}

int main(int count, char** arguments) {
    const char* const how = count > 1 ? arguments[1] : "";
    char** const command = arguments + 2;
    char* nothing[] = {NULL};
    if (strcmp(how, "copy") == 0) {
        return copied(fork());
    }
    if (strcmp(how, "clone") == 0) {
        return copied((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    }
    if (count < 3) {
        return 64;
    }
    if (strcmp(how, "fork") == 0) {
        return waitFor(forked(command, environ));
    }
    if (strcmp(how, "vfork") == 0) {
        return waitFor(vforked(command));
    }
    if (strcmp(how, "spawn") == 0) {
        return spawned(command);
    }
    if (strcmp(how, "nowait") == 0) {
        return unwaited(command);
    }
    if (strcmp(how, "orphan") == 0) {
        return orphaned(command);
    }
    if (strcmp(how, "empty") == 0) {
        return waitFor(forked(command, nothing));
    }
    if (strcmp(how, "twice") == 0) {
        const pid_t first = forked(command, environ);
        return waitFor(forked(command, environ)) + waitFor(first);
    }
    become(how, command);
    return 127;
}

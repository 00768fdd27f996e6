/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Runs a program of the host's distribution. Each line of its output becomes a record. Between
 * lines, memory is sampled at a fixed interval of the guest's time.
 */
#include "guest.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONGEST = 1024 };

static _Noreturn void become(const char* path, char* const words[], int output) {
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    setenv("PATH", "/sbin:/usr/sbin:/bin:/usr/bin", 1);
    execv(path, words);
    _exit(127);
}

static void keepLine(const char* program, const char* line) {
    if (*line != '\0') {
        beginRecord("output");
        addText("program", program);
        addText("line", line);
        endRecord();
    }
}

static void readOutput(const char* program, int output, uint64_t sampleMs) {
    char line[LONGEST];
    size_t used = 0;
    struct pollfd ready = {.fd = output, .events = POLLIN};
    uint64_t next = now() + sampleMs * 1000000;
    for (;;) {
        int64_t left = sampleMs > 0 ? ((int64_t)next - (int64_t)now()) / 1000000 : -1;
        int found = poll(&ready, 1, sampleMs > 0 && left < 0 ? 0 : (int)left);
        if (found < 0 && errno != EINTR) {
            fail("waiting for a program");
        }
        if (sampleMs > 0 && now() >= next) {
            sample(program);
            next = now() + sampleMs * 1000000;
        }
        char character;
        ssize_t got = found > 0 ? read(output, &character, 1) : -1;
        if (got == 0) {
            break;
        }
        if (got == 1 && character != '\n' && used + 1 < sizeof line) {
            line[used++] = character;
        } else if (got == 1) {
            line[used] = '\0';
            keepLine(program, line);
            used = 0;
        }
    }
    line[used] = '\0';
    keepLine(program, line);
}

int runProgram(const char* path, char* const words[], uint64_t sampleMs) {
    int ends[2];
    int status = 0;
    if (pipe(ends) != 0) {
        fail("a pipe");
    }
    pid_t child = fork();
    if (child < 0) {
        fail("a process");
    }
    if (child == 0) {
        close(ends[0]);
        become(path, words, ends[1]);
    }
    close(ends[1]);
    readOutput(words[0], ends[0], sampleMs);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    errno = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

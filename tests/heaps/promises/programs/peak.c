// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// peak RUNS LIBRARY COMMAND...: runs the command RUNS times without and RUNS times with the library
// preloaded, in turn. Prints the mean peaks of resident memory in KiB. A process inherits the peak
// of the process that starts it, so this program is small.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double peak(const char* library, char** command) {
    struct rusage usage;
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        if (library != NULL) {
            setenv("LD_PRELOAD", library, 1);
        }
        execv(command[0], command);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
        exit(2);
    }
    return (double)usage.ru_maxrss;
}

int main(int count, char** words) {
    if (count < 4) {
        return 2;
    }
    const long runs = strtol(words[1], NULL, 10);
    double without = 0;
    double with = 0;
    for (long i = 0; i < runs; ++i) {
        without += peak(NULL, words + 3);
        with += peak(words[2], words + 3);
    }
    printf("{\"without\": %.1f, \"with\": %.1f}\n", without / (double)runs, with / (double)runs);
    return 0;
}

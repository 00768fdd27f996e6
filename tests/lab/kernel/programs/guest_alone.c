/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Runs a load of the guest as a process of this machine: `web`, or `compile` with the number of its
 * sources. Prints its records. What the load would find in the guest is replaced.
 */
#include "guest.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HUNG_AFTER_S = 60 };

static int sourcesThere;

uint64_t number(const char* name, uint64_t otherwise) {
    return strcmp(name, "sample_ms") == 0 ? 1 : otherwise;
}

void beginRecord(const char* kind) {
    printf("%s", kind);
}

void addNumber(const char* name, uint64_t value) {
    (void)name;
    (void)value;
}

void addText(const char* name, const char* value) {
    printf(" %s=%s", name, value);
}

void endRecord(void) {
    printf("\n");
}

_Noreturn void fail(const char* what) {
    printf("failure what=%s\n", what);
    leave();
}

/* The end of the machine ends every process. */
_Noreturn void leave(void) {
    fflush(stdout);
    signal(SIGTERM, SIG_IGN);
    kill(0, SIGTERM);
    exit(1);
}

uint64_t now(void) {
    return 0;
}

void sample(const char* where) {
    (void)where;
}

void seedDraws(uint64_t seed) {
    srand((unsigned)seed);
}

uint64_t draw(uint64_t end) {
    return (uint64_t)rand() % end;
}

const char* mountStorage(uint64_t mebibytes) {
    (void)mebibytes;
    return ".";
}

int runProgram(const char* name, char* const words[], uint64_t sampleMs) {
    size_t count = 0;
    (void)sampleMs;
    while (words[count] != NULL) {
        ++count;
    }
    printf("%s words=%zu\n", name, count);
    return 0;
}

/* The linker puts these two in the place of the functions of the C library. */
int __wrap_scandir(const char* folder, struct dirent*** found, int (*wanted)(const struct dirent*),
                   int (*order)(const struct dirent**, const struct dirent**));
char* __wrap_strcpy(char* to, const char* text);

int __wrap_scandir(const char* folder, struct dirent*** found, int (*wanted)(const struct dirent*),
                   int (*order)(const struct dirent**, const struct dirent**)) {
    (void)folder;
    (void)wanted;
    (void)order;
    *found = calloc((size_t)sourcesThere, sizeof **found);
    for (int at = 0; at < sourcesThere; ++at) {
        (*found)[at] = calloc(1, sizeof ***found);
        snprintf((*found)[at]->d_name, sizeof(*found)[at]->d_name, "%d.c", at);
    }
    return sourcesThere;
}

/* The address of the server: in the test's own folder. */
char* __wrap_strcpy(char* to, const char* text) {
    (void)text;
    return memcpy(to, "socket", sizeof "socket");
}

static void hung(int signal) {
    (void)signal;
    kill(0, SIGKILL);
}

int main(int count, char** words) {
    setpgid(0, 0);
    signal(SIGALRM, hung);
    alarm(HUNG_AFTER_S);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    if (count > 2) {
        sourcesThere = atoi(words[2]);
        compile();
    } else {
        web();
    }
    return 0;
}

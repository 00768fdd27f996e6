/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A compilation: the compiler of the host translates the sources of this first process. The seed
 * draws their order. Then the linker makes one object of them. Each source is a chain of programs
 * (driver, compiler proper, assembler) that read many headers and write to an ext4 file system.
 */
#include "guest.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SOURCES "/src"
enum { MOST = 64, LENGTH = 320 };

static char sources[MOST][LENGTH];
static char objects[MOST][LENGTH];
static size_t count;

static int isSource(const struct dirent* entry) {
    size_t length = strlen(entry->d_name);
    return length > 2 && strcmp(entry->d_name + length - 2, ".c") == 0;
}

static void findSources(void) {
    struct dirent** found = NULL;
    int many = scandir(SOURCES, &found, isSource, alphasort);
    if (many <= 0) {
        fail(SOURCES);
    }
    if (many > MOST) {
        errno = E2BIG;
        fail(SOURCES);
    }
    for (int at = 0; at < many; ++at, ++count) {
        snprintf(sources[count], LENGTH, SOURCES "/%s", found[at]->d_name);
        snprintf(objects[count], LENGTH, "%s.o", found[at]->d_name);
    }
}

static void must(const char* program, char* const words[]) {
    int status = runProgram(program, words, number("sample_ms", 100));
    if (status != 0) {
        beginRecord("failure");
        addText("what", words[0]);
        addText("phase", words[1]);
        addNumber("status", (uint64_t)status);
        endRecord();
        leave();
    }
}

static void translate(size_t at) {
    char* const words[] = {"gcc",       "-c", "-O1",       "-std=gnu11", "-D_GNU_SOURCE",
                           sources[at], "-o", objects[at], NULL};
    must("/usr/bin/gcc", words);
}

static void linkAll(void) {
    static char* words[MOST + 5] = {"ld", "-r", "-o", "all.o"};
    for (size_t at = 0; at < count; ++at) {
        words[4 + at] = objects[at];
    }
    words[4 + count] = NULL;
    must("/usr/bin/ld", words);
}

void compile(void) {
    size_t order[MOST];
    findSources();
    if (chdir(mountStorage(number("storage_mib", 32))) != 0) {
        fail("the storage");
    }
    sample("mounted");
    uint64_t begun = now();
    uint64_t rounds = number("rounds", 1);
    for (uint64_t round = 0; round < rounds; ++round) {
        for (size_t at = 0; at < count; ++at) {
            size_t other = draw(at + 1); /* a random order, by insertion */
            order[at] = order[other];
            order[other] = at;
        }
        for (size_t at = 0; at < count; ++at) {
            translate(order[at]);
        }
        linkAll();
    }
    uint64_t ended = now();
    beginRecord("phase");
    addText("phase", "compiled");
    addNumber("ns", ended - begun);
    endRecord();
    sample("compiled");
}

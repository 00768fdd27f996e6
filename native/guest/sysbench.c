/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The load of the published study: sysbench with many threads, in its mode fileio (blocks of 16
 * KiB) or memory (copied blocks). Files are written at random, as in the study, or written in
 * order, or read in either way. The host sets the amount of each. The seed is sysbench's own.
 */
#include "guest.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 20, LENGTH = 64 };
static char words[WORDS][LENGTH];
static char* list[WORDS + 1];
static size_t count;

/* sysbench takes the time of day for 0, so 0 becomes the largest seed. */
static uint64_t seed(void) {
    uint64_t given = number("seed", 1);
    return given == 0 ? INT32_MAX : given;
}

static void begin(void) {
    count = 0;
    snprintf(words[count], LENGTH, "sysbench");
    list[count] = words[count];
    list[++count] = NULL;
}

static void add(const char* option, uint64_t value, const char* unit) {
    if (unit != NULL) {
        snprintf(words[count], LENGTH, "%s%llu%s", option, (unsigned long long)value, unit);
    } else {
        snprintf(words[count], LENGTH, "%s", option);
    }
    list[count] = words[count];
    list[++count] = NULL;
}

/* The load `fileio` writes at random; the others end with the mode of sysbench. */
static const char* testMode(void) {
    static char mode[LENGTH];
    const char* load = setting("load", "");
    const char* kind = strchr(load, '-');
    snprintf(mode, sizeof mode, "--file-test-mode=%s", kind == NULL ? "rndwr" : kind + 1);
    return mode;
}

/* Files that are read come from the storage, and not from the page cache that their writing left.
 */
static void forgetFiles(void) {
    if (strstr(testMode(), "rd") != NULL) {
        if (chdir("/") != 0 || chdir(remountStorage()) != 0) {
            fail("the storage, mounted again");
        }
        sample("remounted");
    }
}

static void fileWords(const char* command) {
    begin();
    add("fileio", 0, NULL);
    add("--file-num=", number("files", 128), "");
    add("--file-total-size=", number("total_mib", 32), "M");
    add("--file-block-size=", 16384, "");
    add(testMode(), 0, NULL);
    add("--threads=", number("threads", 64), "");
    add("--events=", number("events", 4000), "");
    add("--time=", 0, "");
    add("--rand-seed=", seed(), "");
    add(command, 0, NULL);
}

static void memoryWords(void) {
    begin();
    add("memory", 0, NULL);
    add("--memory-total-size=", number("total_mib", 256), "M");
    add("--memory-block-size=", number("block", 1024), "");
    add("--threads=", number("threads", 64), "");
    add("--time=", 0, "");
    add("--rand-seed=", seed(), "");
    add("run", 0, NULL);
}

static void run(const char* phase, uint64_t sampleMs) {
    uint64_t begun = now();
    int status = runProgram("/usr/bin/sysbench", list, sampleMs);
    uint64_t ended = now();
    if (status != 0) {
        beginRecord("failure");
        addText("what", "sysbench");
        addText("phase", phase);
        addNumber("status", (uint64_t)status);
        endRecord();
        leave();
    }
    beginRecord("phase");
    addText("phase", phase);
    addNumber("ns", ended - begun);
    endRecord();
    sample(phase);
}

void runSysbench(void) {
    uint64_t every = number("sample_ms", 100);
    if (strcmp(setting("load", ""), "memory") == 0) {
        memoryWords();
        run("run", every);
        return;
    }
    if (chdir(mountStorage(number("storage_mib", 64))) != 0) {
        fail("the storage");
    }
    sample("mounted");
    fileWords("prepare");
    run("prepare", every);
    forgetFiles();
    fileWords("run");
    run("run", every);
    fileWords("cleanup");
    run("cleanup", every);
}

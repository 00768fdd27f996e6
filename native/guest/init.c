/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first process of a guest that exists for one load. It mounts the kernel's file systems,
 * reports the allocator, and runs the load that the command line names. It samples memory before,
 * during and after the load, and ends the machine. The results go to the second serial line, one
 * JSON object a line. The last one is `end`. A guest without `end` has failed.
 */
#include "guest.h"

#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static void mountAt(const char* type, const char* path) {
    mkdir(path, 0755);
    if (mount(type, path, type, 0, NULL) != 0 && errno != EBUSY) {
        fail(path);
    }
}

static void mountAll(void) {
    mountAt("devtmpfs", "/dev");
    openRecords();
    mountAt("proc", "/proc");
    mountAt("sysfs", "/sys");
    mountAt("tracefs", "/sys/kernel/tracing");
    mkdir("/tmp", 0700);
    if (mount("tmpfs", "/tmp", "tmpfs", 0, "size=90%,nr_inodes=0") != 0) {
        fail("/tmp");
    }
}

static void runLoad(const char* load) {
    if (strcmp(load, "churn") == 0) {
        churn();
    } else if (strcmp(load, "paths") == 0) {
        paths();
    } else if (strncmp(load, "fileio", strlen("fileio")) == 0 || strcmp(load, "memory") == 0) {
        runSysbench();
    } else if (strcmp(load, "web") == 0) {
        web();
    } else if (strcmp(load, "compile") == 0) {
        compile();
    } else if (strcmp(load, "replay") == 0) {
        replay();
    } else if (strcmp(load, "nothing") != 0) {
        errno = EINVAL;
        fail("the load's name");
    }
}

int main(void) {
    char load[64];
    if (getpid() != 1) {
        return 2;
    }
    mountAll();
    strncpy(load, setting("load", "nothing"), sizeof load - 1);
    load[sizeof load - 1] = '\0';
    seedDraws(number("seed", 1));
    beginRecord("begin");
    addText("allocator", allocatorSeen());
    addText("load", load);
    addNumber("seed", number("seed", 1));
    addNumber("cpus", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    endRecord();
    countFragmentation();
    sample("begin");
    runLoad(load);
    sample("end");
    sendEvents();
    beginRecord("end");
    endRecord();
    leave();
}

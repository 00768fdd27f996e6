/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's reports on its memory: /proc/meminfo, /proc/vmstat, and the page allocator's
 * fragmentation events. A histogram in the kernel counts the events, without a buffer that could
 * overflow. A 64-bit kernel has no LowTotal and LowFree, which the published study sampled. Slab,
 * KernelStack, PageTables and MemFree replace them.
 */
#include "guest.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENT_FOLDER "/sys/kernel/tracing/events/kmem/mm_page_alloc_extfrag"
enum { ROOM = 1 << 15 };
static char text[ROOM];

long readText(const char* path, char* into, size_t room) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return -1;
    }
    size_t size = 0;
    for (ssize_t got = 1; got > 0 && size + 1 < room; size += got > 0 ? (size_t)got : 0) {
        got = read(file, into + size, room - 1 - size);
    }
    close(file);
    into[size] = '\0';
    return (long)size;
}

int writeText(const char* path, const char* line) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) {
        return -1;
    }
    ssize_t written = write(file, line, strlen(line));
    close(file);
    return written == (ssize_t)strlen(line) ? 0 : -1;
}

void countFragmentation(void) {
    if (writeText(EVENT_FOLDER "/trigger", "hist:keys=fallback_order") != 0) {
        fail("counting of fragmentation events");
    }
}

/* The number after `name` at the beginning of a line of `text`, or 0. */
static uint64_t valueOf(const char* name) {
    size_t length = strlen(name);
    for (const char* at = text; at != NULL; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, name, length) == 0 && (at[length] == ' ' || at[length] == ':')) {
            return strtoull(at + length + 1, NULL, 10);
        }
    }
    return 0;
}

static void need(const char* path) {
    if (readText(path, text, sizeof text) < 0) {
        fail(path);
    }
}

/* The orders of the blocks that events took, as ORDER:COUNT separated by commas, and their sum. */
static void addFragmentation(void) {
    char orders[512] = "";
    size_t used = 0;
    need(EVENT_FOLDER "/hist");
    const char* at = text;
    while ((at = strstr(at, "{ fallback_order:")) != NULL) {
        const char* count = strstr(at, "hitcount:");
        unsigned long long order = strtoull(at + strlen("{ fallback_order:"), NULL, 10);
        if (count == NULL) {
            break;
        }
        unsigned long long hits = strtoull(count + strlen("hitcount:"), NULL, 10);
        used += (size_t)snprintf(orders + used, sizeof orders - used, "%s%llu:%llu",
                                 used > 0 ? "," : "", order, hits);
        at = count;
    }
    addNumber("fragmentation_events", valueOf("    Hits"));
    addText("fragmentation_orders", orders);
}

void sample(const char* where) {
    static const struct {
        const char* key;
        const char* name;
    } memory[] = {{"MemTotal", "total_kib"},
                  {"MemFree", "free_kib"},
                  {"Slab", "slab_kib"},
                  {"SReclaimable", "slab_reclaimable_kib"},
                  {"SUnreclaim", "slab_unreclaimable_kib"},
                  {"KernelStack", "stacks_kib"},
                  {"PageTables", "page_tables_kib"},
                  {"AnonPages", "anonymous_kib"},
                  {"Cached", "cached_kib"}};
    static const char* const events[] = {"oom_kill", "pgalloc_dma32", "compact_stall",
                                         "pgsteal_kswapd", "pgsteal_direct"};
    beginRecord("sample");
    addText("where", where);
    need("/proc/meminfo");
    for (size_t at = 0; at < sizeof memory / sizeof *memory; ++at) {
        addNumber(memory[at].name, valueOf(memory[at].key));
    }
    markEvents(valueOf("Slab"), valueOf("MemFree"));
    need("/proc/vmstat");
    for (size_t at = 0; at < sizeof events / sizeof *events; ++at) {
        addNumber(events[at], valueOf(events[at]));
    }
    addFragmentation();
    endRecord();
}

const char* allocatorSeen(void) {
    struct stat status;
    if (stat("/sys/kernel/slab", &status) == 0) {
        return "slub";
    }
    if (stat("/proc/slabinfo", &status) != 0) {
        return "slob";
    }
    return (status.st_mode & S_IWUSR) != 0 ? "slab" : "slqb"; /* only SLAB can be tuned there */
}

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sends the kernel's allocation events from its ring buffers to the host. The kernel's command line
 * enables them early in the boot. They stay in the buffers until the load has ended, so that
 * sending them does not disturb the measurement. Marks between them contain the state of the
 * kernel's memory. The host receives a record for each field of an event, and the number of events
 * that each buffer lost. It receives the pages of the buffers, each after a record with their
 * number of bytes.
 */
#include "guest.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACING "/sys/kernel/tracing/"
enum { PAGE = 4096, PAGES_AT_ONCE = 64, LONG_ENOUGH = 96, ROOM = 1 << 14 };

static int recorded(void) {
    return number("recorded", 0) != 0;
}

void markEvents(uint64_t slabKib, uint64_t freeKib) {
    char mark[LONG_ENOUGH];
    if (!recorded()) {
        return;
    }
    snprintf(mark, sizeof mark, "heapwright %llu %llu", (unsigned long long)slabKib,
             (unsigned long long)freeKib);
    /* A full buffer takes no mark; it reports that at the end. */
    writeText(TRACING "trace_marker", mark);
}

/* One field of an event: `field:TYPE NAME;	offset:N;	size:N;`. */
static void sendField(const char* event, uint64_t id, char* field) {
    char* end = strchr(field, ';');
    const char* offset = strstr(field, "offset:");
    const char* size = strstr(field, "size:");
    if (end == NULL || offset == NULL || size == NULL) {
        return;
    }
    *end = '\0';
    char* name = strrchr(field, ' ');
    if (name == NULL) {
        return;
    }
    name[1 + strcspn(name + 1, "[")] = '\0';
    beginRecord("field");
    addText("event", event);
    addNumber("id", id);
    addText("name", name + 1);
    addNumber("offset", strtoull(offset + strlen("offset:"), NULL, 10));
    addNumber("size", strtoull(size + strlen("size:"), NULL, 10));
    endRecord();
}

static void sendFormat(const char* system, const char* event) {
    static char text[ROOM];
    char path[LONG_ENOUGH];
    snprintf(path, sizeof path, TRACING "events/%s/%s/format", system, event);
    if (readText(path, text, sizeof text) < 0) {
        fail(path);
    }
    const char* id = strstr(text, "ID: ");
    if (id == NULL) {
        fail(path);
    }
    uint64_t number = strtoull(id + strlen("ID: "), NULL, 10);
    char* rest = text;
    for (char* line = NULL; (line = strsep(&rest, "\n")) != NULL;) {
        if (strncmp(line, "\tfield:", strlen("\tfield:")) == 0) {
            sendField(event, number, line);
        }
    }
}

/* The number after `name` in the statistics of a buffer. */
static uint64_t statistic(const char* text, const char* name) {
    const char* at = strstr(text, name);
    return at == NULL ? 0 : strtoull(at + strlen(name), NULL, 10);
}

static void sendPages(uint64_t processor) {
    static char pages[PAGES_AT_ONCE * PAGE];
    char path[LONG_ENOUGH];
    snprintf(path, sizeof path, TRACING "per_cpu/cpu%llu/trace_pipe_raw",
             (unsigned long long)processor);
    int buffer = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (buffer < 0) {
        fail(path);
    }
    for (;;) {
        size_t used = 0;
        while (used + PAGE <= sizeof pages && read(buffer, pages + used, PAGE) == PAGE) {
            used += PAGE;
        }
        if (used == 0) {
            break;
        }
        beginRecord("pages");
        addNumber("cpu", processor);
        addNumber("bytes", used);
        endRecord();
        sendBytes(pages, used);
    }
    close(buffer);
}

static void sendBuffer(uint64_t processor) {
    static char text[ROOM];
    char path[LONG_ENOUGH];
    snprintf(path, sizeof path, TRACING "per_cpu/cpu%llu/stats", (unsigned long long)processor);
    if (readText(path, text, sizeof text) < 0) {
        fail(path);
    }
    beginRecord("buffer");
    addNumber("cpu", processor);
    addNumber("entries", statistic(text, "entries: "));
    addNumber("lost", statistic(text, "overrun: ") + statistic(text, "commit overrun: ") +
                          statistic(text, "dropped events: "));
    endRecord();
    sendPages(processor);
}

void sendEvents(void) {
    static const char* const events[] = {
        "kmem_cache_alloc", "kmem_cache_free",      "kmalloc", "kfree", "mm_page_alloc",
        "mm_page_free",     "mm_page_alloc_extfrag"};
    if (!recorded()) {
        return;
    }
    if (writeText(TRACING "tracing_on", "0") != 0) {
        fail("the end of the events");
    }
    for (size_t at = 0; at < sizeof events / sizeof *events; ++at) {
        sendFormat("kmem", events[at]);
    }
    sendFormat("ftrace", "print");
    for (long processor = 0; processor < sysconf(_SC_NPROCESSORS_CONF); ++processor) {
        sendBuffer((uint64_t)processor);
    }
}

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the guest's first process have of each other. It runs alone in a machine that
 * is there for one load: whatever fails is told to the host as a record, and the machine ends.
 */
#ifndef HEAPWRIGHT_GUEST_H
#define HEAPWRIGHT_GUEST_H

#include <stddef.h>
#include <stdint.h>

/* ---- settings.c: what the host asks for, on the kernel's command line ---- */

/** The text of heapwright.NAME, or `otherwise`. */
const char* setting(const char* name, const char* otherwise);
/** The number of heapwright.NAME, or `otherwise`. */
uint64_t number(const char* name, uint64_t otherwise);

/* ---- record.c: lines to the host, one JSON object each ---- */

void openRecords(void);
/** Begins a record of this kind, with the time since the records were opened. */
void beginRecord(const char* kind);
void addNumber(const char* name, uint64_t value);
void addText(const char* name, const char* value);
void endRecord(void);
/** Bytes as they are, after a record that says how many. */
void sendBytes(const char* bytes, size_t size);
/** A record that says what failed and why (errno), and the end of the machine. */
_Noreturn void fail(const char* what);
/** The end of the machine. */
_Noreturn void leave(void);
/** Nanoseconds of the guest's monotonic clock. */
uint64_t now(void);

/* ---- sample.c: what the kernel says of its memory ---- */

/** Has the page allocator's fragmentation events counted from now on. */
void countFragmentation(void);
/** Records memory, page tables, stacks and events so far, under the name of where we are. */
void sample(const char* where);
/** slab, slub or slob: by the tables that each of them has. */
const char* allocatorSeen(void);
/** Reads a file of the kernel's into `text`, at most `room` - 1 bytes; its length, or -1. */
long readText(const char* path, char* text, size_t room);
/** Writes a line into a file of the kernel's; 0 or -1. */
int writeText(const char* path, const char* text);

/* ---- events.c: the kernel's own record of its allocations, where the host asks for it ---- */

/** A mark among the events: what the kernel has of slab memory and free memory. */
void markEvents(uint64_t slabKib, uint64_t freeKib);
/** Ends the recording and sends all of it. */
void sendEvents(void);

/* ---- draw.c: numbers drawn from the seed ---- */

void seedDraws(uint64_t seed);
/** At least 0 and below `end`. */
uint64_t draw(uint64_t end);

/* ---- objects.c: kernel objects that can be made and removed ---- */

enum kind { FILE_OBJECT, PIPE, SOCKETS, EVENT, TIMER, POLL, PROCESS, KINDS };

struct object {
    int one; /* descriptor, or process */
    int two;
    uint32_t name;
    uint8_t kind;
    uint8_t live;
};

/** The folders that file objects lie in; before the first of them. */
void makeFolders(void);
const char* nameOf(enum kind kind);
/** Makes one; 0, or -1 with errno where the kernel has no room for it. */
int makeObject(struct object* object, enum kind kind);
void removeObject(struct object* object);

/* ---- the loads ---- */

void churn(void);
void paths(void);
void runSysbench(void);

/* ---- storage.c ---- */

/** Mounts ext4 on a loop over a file in tmpfs; the path where it is. */
const char* mountStorage(uint64_t mebibytes);

/* ---- program.c ---- */

/** Runs a program with its output as records, sampling beside it; its exit status. */
int runProgram(const char* name, char* const words[], uint64_t sampleMs);

#endif

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The interfaces between the parts of the guest's first process. It runs alone in a machine that
 * exists for one load. Any failure is sent to the host as a record, and ends the machine.
 */
#ifndef HEAPWRIGHT_GUEST_H
#define HEAPWRIGHT_GUEST_H

#include <stddef.h>
#include <stdint.h>

/* ---- settings.c: the host's settings, on the kernel's command line ---- */

/** The text of heapwright.NAME, or `otherwise`. */
const char* setting(const char* name, const char* otherwise);
/** The number of heapwright.NAME, or `otherwise`. */
uint64_t number(const char* name, uint64_t otherwise);

/* ---- record.c: lines to the host, one JSON object each ---- */

void openRecords(void);
/** Begins a record of this kind, with the time since openRecords. */
void beginRecord(const char* kind);
void addNumber(const char* name, uint64_t value);
void addText(const char* name, const char* value);
void endRecord(void);
/** Sends bytes unchanged, after a record with their number. */
void sendBytes(const char* bytes, size_t size);
/** Sends a record with the failed step and its reason (errno), and ends the machine. */
_Noreturn void fail(const char* what);
/** Ends the machine. */
_Noreturn void leave(void);
/** Nanoseconds of the guest's monotonic clock. */
uint64_t now(void);

/* ---- sample.c: the kernel's reports on its memory ---- */

/** Starts to count the page allocator's fragmentation events. */
void countFragmentation(void);
/** Records memory, page tables, stacks and events so far, under the name of the present step. */
void sample(const char* where);
/** slab, slub, slob or slqb, by the tables that each of them has. */
const char* allocatorSeen(void);
/** Reads a kernel file into `text`, at most `room` - 1 bytes. Returns its length, or -1. */
long readText(const char* path, char* text, size_t room);
/** Writes a line into a kernel file. Returns 0 or -1. */
int writeText(const char* path, const char* text);

/* ---- events.c: the kernel's own record of its allocations, if the host requests it ---- */

/** Writes a mark among the events: the kernel's slab memory and free memory. */
void markEvents(uint64_t slabKib, uint64_t freeKib);
/** Ends the recording and sends all of it. */
void sendEvents(void);

/* ---- draw.c: numbers drawn from the seed ---- */

void seedDraws(uint64_t seed);
/** A number from 0 to `end` - 1. */
uint64_t draw(uint64_t end);

/* ---- objects.c: kernel objects that can be created and removed ---- */

enum kind { FILE_OBJECT, PIPE, SOCKETS, EVENT, TIMER, POLL, PROCESS, KINDS };

struct object {
    int one; /* descriptor or process */
    int two;
    uint32_t name;
    uint8_t kind;
    uint8_t live;
};

/** Creates the folders of file objects. Called before the first of them. */
void makeFolders(void);
const char* nameOf(enum kind kind);
/** Creates an object. Returns 0, or -1 with errno if the kernel has no room for it. */
int makeObject(struct object* object, enum kind kind);
void removeObject(struct object* object);

/* ---- the loads ---- */

void churn(void);
void paths(void);
void runSysbench(void);
void web(void);
void compile(void);
void replay(void);

/* ---- storage.c ---- */

/** Mounts ext4 on a loop device over a file in tmpfs. Returns the path of the mount. */
const char* mountStorage(uint64_t mebibytes);
/** Mounts it anew, without its page cache. No file of it may be in use. Returns the path. */
const char* remountStorage(void);

/* ---- program.c ---- */

/** Runs a program with its output as records, and samples meanwhile. Returns its exit status. */
int runProgram(const char* name, char* const words[], uint64_t sampleMs);

#endif

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What threads do to each other inside an allocator, counted by the counting libraries
 * (lib/counting/libheapwright-NAME.so), each the same composition as lib/libheapwright-NAME.so with
 * its locks and shared variables told to count. Only they have the function; a program asks for it
 * by name:
 *
 *     void (*read)(struct heapwright_event_counts*) =
 *         (void (*)(struct heapwright_event_counts*))dlsym(RTLD_DEFAULT, "heapwright_events");
 *     struct heapwright_event_counts before, after;
 *     if (read != NULL) read(&before);
 *     ...
 *     if (read != NULL) read(&after);        and the differences are what happened between
 *
 * All counts are of the whole process, from its start, and never go back; in the child after a fork
 * they go on from what they were. Reading them while other threads allocate is safe and gives each
 * count as it was at some moment during the call.
 * Counted are locks and variables that are shared without a lock, with the words that a lock
 * protects as far as a layer tells of them. What objects contain is not: the allocator hands lines
 * of memory to threads, and which of them two threads write is found from the addresses.
 * Counting changes how long things take, so nothing should be timed under these libraries; how
 * often a thread finds a lock taken (lock_waits) depends on that, and on the number of processors.
 * All else depends only on what the program does and on the order in which its threads do it.
 */
#ifndef HEAPWRIGHT_C_EVENTS_H
#define HEAPWRIGHT_C_EVENTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct heapwright_event_counts {
    uint64_t lock_takes;        /* locks taken, whether or not that needed waiting */
    uint64_t lock_waits;        /* times that a lock was not free and was waited for */
    uint64_t atomic_operations; /* atomic read-modify-writes tried, those of locks included; a
                                   process with one thread needs none for its locks */
    uint64_t hand_overs;        /* writes to a lock or shared word that another thread wrote last */
    uint64_t written_lines;     /* different cache lines with such words that were written */
    uint64_t shared_lines;      /* ... by more than one thread */
    uint64_t writes_to_shared_lines; /* all writes to those, also before they were shared: the most
                                   hand-overs that there can be, in whatever order threads run */
    uint64_t unknown; /* writes that found no place in the tables: if not 0, hand_overs and
                         what is told of lines may be too low by up to this */
};

/* Writes the counts to where `events` points. */
void heapwright_events(struct heapwright_event_counts* events);

#ifdef __cplusplus
}
#endif

#endif

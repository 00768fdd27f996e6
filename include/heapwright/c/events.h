/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Counts of how threads disturb each other inside an allocator. The counting libraries
 * (lib/counting/libheapwright-NAME.so) provide them. Each is the same composition as
 * lib/libheapwright-NAME.so, with counting locks and shared variables. Only they have the function,
 * so a program looks it up by name:
 *
 *     void (*read)(struct heapwright_event_counts*) =
 *         (void (*)(struct heapwright_event_counts*))dlsym(RTLD_DEFAULT, "heapwright_events");
 *     struct heapwright_event_counts before, after;
 *     if (read != NULL) read(&before);
 *     ...
 *     if (read != NULL) read(&after);        the differences are the events in between
 *
 * All counts are of the whole process, from its start, and never decrease. In a forked child they
 * continue. Reading them while other threads allocate is safe; each count is then from some moment
 * during the call.
 *
 * Locks, variables shared without a lock, and words that a lock protects are counted, as far as a
 * layer reports them. The contents of objects are not. False sharing of objects is found from their
 * addresses instead.
 *
 * Counting changes the timing, so measure no times with these libraries. lock_waits depends on the
 * timing and on the number of processors. All other counts depend only on the program and on the
 * order in which its threads run.
 */
#ifndef HEAPWRIGHT_C_EVENTS_H
#define HEAPWRIGHT_C_EVENTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct heapwright_event_counts {
    uint64_t lock_takes; /* locks taken, with or without waiting */
    uint64_t lock_waits; /* times that a thread had to wait for a lock */
    /* Atomic read-modify-writes, including those of locks; with one thread, locks need none. */
    uint64_t atomic_operations;
    uint64_t hand_overs;    /* writes to a lock or shared word that another thread wrote last */
    uint64_t written_lines; /* cache lines with such words that were written */
    uint64_t shared_lines;  /* cache lines written by more than one thread */
    /* All writes to shared lines, including those before they were shared: an upper bound of the
     * hand-overs in any order of the threads. */
    uint64_t writes_to_shared_lines;
    /* Writes without a place in the tables: hand_overs and the counts of lines may be too low by
     * up to this number. */
    uint64_t unknown;
    uint64_t lock_hand_overs; /* those of hand_overs that are of locks */
};

/* Writes the counts to where `events` points. */
void heapwright_events(struct heapwright_event_counts* events);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The messages that the marks write into valgrind's log for the program that reads it. Each is one
 * line of text, in order among the lines of the trace:
 *
 *   **PID** hw call KIND A B            the calling thread enters or leaves an allocation routine
 *   **PID** hw stack LOW HIGH           the calling thread is new, and this is its stack (with its
 *                                       thread-local variables); a HIGH of 0 means unknown
 *   **PID** hw code START END OFFSET F  instructions of the file F from OFFSET on are at START
 *   **PID** hw marks ADDRESS            the code around ADDRESS is the marks' own
 *   **PID** hw provider F               malloc, behind the marks, is the file F's
 *
 * Numbers are hexadecimal. On entering, A of `call` is the thread's stack pointer and B the
 * argument object, if any. On leaving, A is the returned object and B its size.
 */
#ifndef HEAPWRIGHT_VALGRIND_MESSAGES_H
#define HEAPWRIGHT_VALGRIND_MESSAGES_H

enum heapwright_mark {
    heapwright_leave = 0,
    /* Malloc and similar routines: the contents of the object do not matter. */
    heapwright_allocate = 1,
    heapwright_zero = 2,    /* calloc: the object's zeros are the program's, not the allocator's */
    heapwright_resize = 3,  /* realloc: the copied bytes are the program's, not the allocator's */
    heapwright_release = 4, /* free */
    /* Malloc_usable_size: no allocation or free, but inside the allocator. */
    heapwright_ask = 5
};

#endif

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The messages that the marks write into valgrind's log for the program that reads it. Each is one
 * line of text, in order among the lines of the trace:
 *
 *   **PID** hw call KIND A B            the calling thread enters or leaves an allocation routine
 *   **PID** hw stack LOW HIGH           the calling thread is new, and its stack (with its
 *                                       thread-local variables) lies there; nothing is known of
 *                                       HIGH if it is 0
 *   **PID** hw code START END OFFSET F  instructions of the file F from OFFSET on are at START
 *   **PID** hw marks ADDRESS            the code around ADDRESS is the marks' own
 *   **PID** hw provider F               malloc, behind the marks, is the file F's
 *
 * Numbers are hexadecimal. Of `call`: entering, A is the thread's stack pointer and B the object
 * that is handed over, if any; leaving, A is the object that is handed out and B its size.
 */
#ifndef HEAPWRIGHT_VALGRIND_MESSAGES_H
#define HEAPWRIGHT_VALGRIND_MESSAGES_H

enum heapwright_mark {
    heapwright_leave = 0,
    heapwright_allocate = 1, /* malloc and its kin: what is in the object is nobody's business */
    heapwright_zero = 2,     /* calloc: the object's zeros are the program's, not the allocator's */
    heapwright_resize = 3,   /* realloc: so are the bytes that it copies */
    heapwright_release = 4,  /* free */
    heapwright_ask = 5       /* malloc_usable_size: no operation, but inside the allocator */
};

#endif

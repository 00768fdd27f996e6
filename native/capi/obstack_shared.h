/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The common part of obstacks with any source of objects: the lack of memory, and printing
 * (obstack_shared.c).
 */
#ifndef HEAPWRIGHT_OBSTACK_SHARED_H
#define HEAPWRIGHT_OBSTACK_SHARED_H

#ifdef __cplusplus
extern "C" {
#endif

/* Calls the program's handler, and ends the program if that returns. */
#ifdef __GNUC__
__attribute__((noreturn))
#endif
void heapwrightObstackFail(void);

/* Ends the program, because an object to be freed is not on this obstack. */
#ifdef __GNUC__
__attribute__((noreturn))
#endif
void heapwrightObstackForeign(void);

#ifdef __cplusplus
}
#endif

#endif

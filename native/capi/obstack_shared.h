/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What obstacks have in common, wherever their objects stand: what happens without memory,
 * printing (obstack_shared.c). */
#ifndef HEAPWRIGHT_OBSTACK_SHARED_H
#define HEAPWRIGHT_OBSTACK_SHARED_H

#ifdef __cplusplus
extern "C" {
#endif

/* Calls the program's handler, and ends the program if that comes back. */
#ifdef __GNUC__
__attribute__((noreturn))
#endif
void heapwrightObstackFail(void);

/* Ends the program: an object was to be freed that is on another obstack, or on none. */
#ifdef __GNUC__
__attribute__((noreturn))
#endif
void heapwrightObstackForeign(void);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Marks in a recording. A program names a moment of its run:
 *
 *     heapwright_mark("loaded");
 *
 * Under `heapwright record` the name and the time go into the trace. Then `heapwright profile`
 * shows the memory of each call site at the mark (`--at loaded`), and what changed between two
 * marks. In any other run the function does nothing.
 *
 * The name is UTF-8 of at most 120 bytes. Any thread may call it, but no signal handler, because
 * the first call looks the recorder up. Names need not be distinct. Link with -ldl where dlsym is
 * not in the C library.
 *
 * Cost: one look-up for each source file that calls it, then a test. Under the recorder a mark
 * takes 24 bytes of the trace and its name.
 */
#ifndef HEAPWRIGHT_C_MARK_H
#define HEAPWRIGHT_C_MARK_H

#include <dlfcn.h>
#include <stddef.h>

static inline void heapwright_mark(const char* name) {
    static void* found = NULL; /* the recorder's function; else the address of `found` itself */
    void* recorder = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
    if (recorder == NULL) {
        recorder = dlsym(NULL, "heapwright_recorder_mark"); /* NULL is RTLD_DEFAULT on Linux */
        if (recorder == NULL) {
            recorder = &found;
        }
        __atomic_store_n(&found, recorder, __ATOMIC_RELEASE);
    }
    if (recorder != (void*)&found) {
        void (*mark)(const char*);
        __builtin_memcpy(&mark, &recorder, sizeof mark);
        mark(name);
    }
}

#endif

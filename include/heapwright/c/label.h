/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Labels in a sampled heap profile. A thread names the tenant, subsystem or request for which it
 * allocates from now on:
 *
 *     const char* before = heapwright_label("tenant-7");
 *     serve(request);
 *     heapwright_label(before);
 *
 * Under `heapwright profile --sample 512K -- PROGRAM` each sample has the label of its thread. The
 * profile shows the memory of each label. In any other run the function does nothing.
 *
 * The function returns the label before, or null. Null removes the label. A new thread has none.
 * The text is UTF-8; 63 bytes of it are kept. It is copied, and need not stay. A process has up to
 * 254 labels; further ones become "(further labels)". Any thread may call it, but no signal
 * handler, because the first call looks the sampler up. Link with -ldl where dlsym is not in the C
 * library.
 *
 * Cost: one look-up for each source file that calls it, then a test. Under the sampler, a
 * comparison with each known label.
 */
#ifndef HEAPWRIGHT_C_LABEL_H
#define HEAPWRIGHT_C_LABEL_H

#include <dlfcn.h>
#include <stddef.h>

static inline const char* heapwright_label(const char* name) {
    static void* found = NULL; /* the sampler's function; else the address of `found` itself */
    void* sampler = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
    if (sampler == NULL) {
        sampler = dlsym(NULL, "heapwright_sampler_label"); /* NULL is RTLD_DEFAULT on Linux */
        if (sampler == NULL) {
            sampler = &found;
        }
        __atomic_store_n(&found, sampler, __ATOMIC_RELEASE);
    }
    if (sampler != (void*)&found) {
        const char* (*label)(const char*);
        __builtin_memcpy(&label, &sampler, sizeof label);
        return label(name);
    }
    return NULL;
}

#endif

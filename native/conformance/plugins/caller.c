// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A library that opens its neighbour, which only its own RUNPATH leads to.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

void* callerOpen(const char* name, int flags);
void* callerOpenNamespace(const char* name, int flags);

// What comes after the calls keeps the compiler from jumping to dlopen instead of calling it, which
// would show the loader another caller.
void* callerOpen(const char* name, int flags) {
    void* volatile library = dlopen(name, flags);
    return library;
}

void* callerOpenNamespace(const char* name, int flags) {
    void* volatile library = dlmopen(LM_ID_BASE, name, flags);
    return library;
}

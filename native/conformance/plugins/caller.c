// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A library that opens another one, which only its own RUNPATH finds.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

void* callerOpen(const char* name, int flags);
void* callerOpenNamespace(const char* name, int flags);

// The code after the calls prevents a tail call of dlopen, which would show the loader another
// caller.
void* callerOpen(const char* name, int flags) {
    void* volatile library = dlopen(name, flags);
    return library;
}

void* callerOpenNamespace(const char* name, int flags) {
    void* volatile library = dlmopen(LM_ID_BASE, name, flags);
    return library;
}

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the next definitions of dlopen and dlmopen at the first call.
//
// A library loaded with RTLD_DEEPBIND resolves malloc in its own dependencies first, and finds the
// C library's. Memory that passes between it and the program would then be freed in the wrong heap.
// Therefore the flag is cleared (docs/decisions/deep-binding.md). The loader uses the return
// address to select $ORIGIN, RUNPATH and namespace. So the two functions must jump to the next
// definition without a stack frame. This needs one file of assembly for each processor. This file
// contains the search that they call.
//
// Invariant: the pointers are null or right. Two concurrent searches find the same.
#include <dlfcn.h>

#include <heapwright/platform/abort.hpp>

static_assert(RTLD_DEEPBIND == 8, "the assembly clears this bit");
static_assert(LM_ID_BASE == 0, "the assembly compares with zero");

namespace {

void* nextOf(const char* symbol) {
    void* function = ::dlsym(RTLD_NEXT, symbol);
    if (function == nullptr) {
        heapwright::platform::abortWithMessage(symbol, "the C library has none");
    }
    return function;
}

} // namespace

extern "C" {

[[gnu::visibility("hidden")]] extern void* heapwrightNextDlopen;
[[gnu::visibility("hidden")]] extern void* heapwrightNextDlmopen;
[[gnu::visibility("hidden")]] void* heapwrightFindDlopen();
[[gnu::visibility("hidden")]] void* heapwrightFindDlmopen();

void* heapwrightNextDlopen = nullptr;
void* heapwrightNextDlmopen = nullptr;

void* heapwrightFindDlopen() {
    void* next = nextOf("dlopen");
    __atomic_store_n(&heapwrightNextDlopen, next, __ATOMIC_RELAXED);
    return next;
}

void* heapwrightFindDlmopen() {
    void* next = nextOf("dlmopen");
    __atomic_store_n(&heapwrightNextDlmopen, next, __ATOMIC_RELAXED);
    return next;
}

} // extern "C"

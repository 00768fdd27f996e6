// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the functions that our dlopen and dlmopen go on to, when the first call needs them.
//
// A library loaded with RTLD_DEEPBIND resolves malloc in its own dependencies first, where it finds
// the C library's; the memory that crosses its border would then be freed in the wrong heap. So the
// flag is taken off (docs/decisions/deep-binding.md). The loader decides by the return address
// whose $ORIGIN, RUNPATH and namespace count, therefore the two functions must go on by a jump that
// leaves no trace. That is one file of assembly for each processor; this file is what they call.
//
// Invariant: the pointers are null or right; finding them twice at once does no harm.
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

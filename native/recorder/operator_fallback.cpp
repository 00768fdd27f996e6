// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See operator_fallback.hpp and operator_fallback.h.
#include "operator_fallback.hpp"
#include "operator_fallback.h"

#include "next.hpp"

#include <heapwright/platform/abort.hpp>

#include <dlfcn.h>

using namespace heapwright;
using namespace heapwright::recorder;

// The linker's name for the place at which this library is loaded.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];

namespace heapwright::recorder {

constinit bool programReplacesOperators = false;

namespace {

/// Where the library of a function begins; null if it is in none.
const void* baseOf(const void* function) noexcept {
    Dl_info found = {};
    return function != nullptr && ::dladdr(function, &found) != 0 ? found.dli_fbase : nullptr;
}

} // namespace

void findOperatorOwner(const void* also) noexcept {
    const void* const other = baseOf(also);
    for (const char* name : {"_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"}) {
        const void* const owner = baseOf(::dlsym(RTLD_DEFAULT, name));
        const bool ours = owner == static_cast<const void*>(&__ehdr_start[0]) ||
                          (owner != nullptr && owner == other);
        programReplacesOperators = programReplacesOperators || !ours;
    }
}

} // namespace heapwright::recorder

extern "C" {

void* heapwright_runtime_function(const char* name) {
    for (const char* library : {"libstdc++.so.6", "libc++.so.1"}) {
        if (void* handle = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD)) {
            void* const function = ::dlsym(handle, name);
            ::dlclose(handle);
            if (function != nullptr) {
                return function;
            }
        }
    }
    return nullptr;
}

void* heapwright_plain_new(std::size_t size, std::size_t alignment) {
    void* const object = alignment == 0 ? nextMalloc(size) : next.memalign(alignment, size);
    if (object == nullptr) {
        platform::abortWithMessage("operator new",
                                   "out of memory, and no C++ runtime to throw bad_alloc");
    }
    return object;
}

void heapwright_plain_delete(void* object) {
    nextFree(object);
}
}

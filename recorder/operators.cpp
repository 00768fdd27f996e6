// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What operators.c asks of the recorder, and whether the operators are recorded at all. A program
// that replaces some of them gets by the others, which it leaves to us, to its own; objects would
// then be freed in our sight that were made out of it. So where one that matters is not ours, none
// is recorded, and the malloc below it is.
#include "operators.h"

#include "lifetime.hpp"
#include "record.hpp"

#include <heapwright/platform/abort.hpp>

#include <dlfcn.h>

using namespace heapwright;
using namespace heapwright::recorder;

// The linker's name for the place at which this library is loaded.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];

namespace {

constinit bool theirs = false; ///< the program has operators of its own

/// Whether a name is bound to a function of this library.
bool isOurs(const char* name) noexcept {
    Dl_info found = {};
    void* const function = ::dlsym(RTLD_DEFAULT, name);
    return function != nullptr && ::dladdr(function, &found) != 0 &&
           found.dli_fbase == static_cast<const void*>(&__ehdr_start[0]);
}

} // namespace

namespace heapwright::recorder {

void findWhoseOperators() noexcept {
    for (const char* name : {"_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"}) {
        theirs = theirs || !isOurs(name);
    }
}

} // namespace heapwright::recorder

extern "C" {

bool heapwright_enter() {
    Thread& self = thisThread;
    if (theirs || !isOutermost(self)) {
        return false;
    }
    enter(self, State::inside);
    return true;
}

void heapwright_leave_new(heapwright_new* call) {
    if (!call->recorded) {
        return;
    }
    Thread& self = thisThread;
    const auto routine = static_cast<Routine>(call->routine);
    if (self.rest == State::idle && routine == Routine::operatorNew) [[likely]] {
        noteAllocatedPlainly(self, Routine::operatorNew, call->result, call->size);
    } else {
        noteAllocated(self, routine, call->result, call->size, call->alignment, call->frame);
    }
}

bool heapwright_enter_delete(std::uint8_t routine, const void* object) {
    Thread& self = thisThread;
    if (theirs || !isOutermost(self)) {
        return false;
    }
    const auto which = static_cast<Routine>(routine);
    if (self.rest != State::idle || !noteFreedPlainly(self, which, object)) {
        noteFreed(self, which, object);
    }
    return true;
}

void heapwright_leave_delete() {
    Thread& self = thisThread;
    enter(self, self.rest);
}

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

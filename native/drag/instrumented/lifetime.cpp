// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes the account at the end of the process: after the program's exit handlers, or where it
// exits without them. A killed process writes nothing. Also contains the runtime functions that
// calls/ uses.
#include "calls/calls.h"
#include "runtime.hpp"

#include "recorder/operator_fallback.hpp"

#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/errno_keeper.hpp>

#include <dlfcn.h>
#include <unistd.h>
#include <utility>

using namespace heapwright;
using drag::runtime;
using drag::thisThread;

namespace {

__attribute__((constructor)) void begin() {
    if (runtime.enter()) {
        recorder::findOperatorOwner();
        runtime.leave();
    }
}

__attribute__((destructor)) void end() {
    runtime.finish();
}

/// Calls the next definition of a function that never returns.
template <class... Arguments>
[[noreturn]] void leaveBy(const char* name, Arguments... arguments) {
    static std::atomic<void*> known;
    runtime.finish();
    void* const behind = heapwright_next_routine(&known, name);
    reinterpret_cast<void (*)(Arguments...)>(behind)(arguments...);
    __builtin_unreachable();
}

} // namespace

extern "C" {

void heapwright_touch(const void* address) {
    runtime.touch(address);
}

void* heapwright_next_routine(std::atomic<void*>* known, const char* name) {
    void* routine = known->load(std::memory_order_relaxed);
    if (routine == nullptr) [[unlikely]] {
        const platform::ErrnoKeeper keeper;
        const bool before = std::exchange(thisThread.inside, true);
        routine = ::dlsym(RTLD_NEXT, name);
        thisThread.inside = before;
        if (routine == nullptr) {
            platform::abortWithMessage(name, "the C library has no such routine");
        }
        known->store(routine, std::memory_order_relaxed);
    }
    return routine;
}

heapwright_behalf heapwright_on_behalf(const void* frame) {
    const void* const before = thisThread.behalf;
    thisThread.behalf = before != nullptr ? before : frame; // the outermost call counts
    return {before};
}

void heapwright_behalf_ends(heapwright_behalf* behalf) {
    thisThread.behalf = behalf->before;
}

#pragma GCC visibility push(default)

void _exit(int status) {
    leaveBy("_exit", status);
}

void _Exit(int status) {
    leaveBy("_exit", status); // _Exit is the same as _exit
}

void abort() {
    leaveBy("abort");
}

#pragma GCC visibility pop

} // extern "C"

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The next definition of an intercepted function, which a call would reach without the witness.
// Cost: one search of the loaded objects, at the first call.
#pragma once

#include "report.hpp"

#include <dlfcn.h>

namespace heapwright::runner::witness {

/// Searches once. Two threads that search at the same time find the same.
template <class Function>
Function next(Function& known, const char* name) {
    Function function = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (function == nullptr) {
        const KeepErrno keep;
        function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
        __atomic_store_n(&known, function, __ATOMIC_RELAXED);
    }
    return function;
}

} // namespace heapwright::runner::witness

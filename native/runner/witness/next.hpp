// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The function of the same name behind ours: what a call would have reached without the witness.
// Cost: one search of the loaded objects, the first time.
#pragma once

#include "report.hpp"

#include <dlfcn.h>

namespace heapwright::runner::witness {

/// Found once; two threads that look at the same time find the same.
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

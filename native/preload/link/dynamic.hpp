// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How a shared library reaches what it replaces, and a C++ runtime that may be absent: by the
// dynamic linker.
#pragma once

#include <atomic>
#include <csignal>
#include <dlfcn.h>

#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/errno_keeper.hpp>

#include <preload/link/cxx_runtime.hpp>

namespace heapwright::preload {

class DynamicLink {
    using Sigaction = int(int, const struct sigaction*, struct sigaction*);

public:
    using Cxx = CxxRuntime;

    /// The C library's sigaction. The first call looks it up.
    static Sigaction* nextSigaction() {
        Sigaction* function = sigaction_.load(std::memory_order_relaxed);
        if (function == nullptr) [[unlikely]] {
            const platform::ErrnoKeeper keeper;
            function = reinterpret_cast<Sigaction*>(::dlsym(RTLD_NEXT, "sigaction"));
            if (function == nullptr) {
                platform::abortWithMessage("sigaction", "the C library has none");
            }
            sigaction_.store(function, std::memory_order_relaxed);
        }
        return function;
    }

private:
    static inline constinit std::atomic<Sigaction*> sigaction_{nullptr};
};

} // namespace heapwright::preload

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The C++ runtime as the archive's member for C++ uses it. Only a program with a runtime contains
// that member, so it refers to the runtime and is compiled with exceptions.
#pragma once

#include <new>

namespace heapwright::preload {

struct ArchiveCxxRuntime {
    static std::new_handler newHandler() { return std::get_new_handler(); }

    [[noreturn]] static void throwBadAlloc() { throw std::bad_alloc(); }

    /// The runtime's own nothrow forms are replaced too, so the exception is caught here.
    template <class Nothrow, class Throwing, class... Arguments>
    static void* nullIfThrown(const char* /*symbol*/, Throwing* throwing,
                              Arguments... arguments) noexcept {
        try {
            return throwing(arguments...);
        } catch (...) {
            return nullptr;
        }
    }
};

} // namespace heapwright::preload

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The C++ runtime, as operator new of the archive libheapwright-NAME.a calls it. The linker adds
// that member (preload/static/cxx.cpp.in) to C++ programs only, which contain the runtime. So this
// header calls the runtime directly and needs exceptions. A preloaded library uses `CxxRuntime`
// instead.
#pragma once

#include <new>

namespace heapwright::preload {

struct ArchiveCxxRuntime {
    static std::new_handler newHandler() { return std::get_new_handler(); }

    [[noreturn]] static void throwBadAlloc() { throw std::bad_alloc(); }

    /// Calls the throwing form, and returns null if it throws. The archive also replaces the
    /// runtime's nothrow forms, so they cannot be called for this.
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

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See chain.hpp.
#include "chain.hpp"

#include <pthread.h>

namespace heapwright::drag {

namespace {

/// The end of the calling thread's stack. 0: not looked up yet. 1: the system does not report it.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uintptr_t stackEnd = 0;

} // namespace

std::uintptr_t endOfStack() noexcept {
    if (stackEnd == 0) [[unlikely]] {
        stackEnd = 1;
        pthread_attr_t attributes;
        if (::pthread_getattr_np(::pthread_self(), &attributes) == 0) {
            void* begin = nullptr;
            std::size_t size = 0;
            if (::pthread_attr_getstack(&attributes, &begin, &size) == 0) {
                stackEnd = reinterpret_cast<std::uintptr_t>(begin) + size;
            }
            ::pthread_attr_destroy(&attributes);
        }
    }
    return stackEnd;
}

} // namespace heapwright::drag

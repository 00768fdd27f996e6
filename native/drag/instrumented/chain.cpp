// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See chain.hpp.
#include "chain.hpp"

#include "runtime.hpp"

#include <pthread.h>

namespace heapwright::drag {

std::uintptr_t endOfStack() noexcept {
    Self& self = thisThread;
    if (self.stackEnd == 0) [[unlikely]] {
        self.stackEnd = 1; // of no use, if it cannot be had
        pthread_attr_t attributes;
        if (::pthread_getattr_np(::pthread_self(), &attributes) == 0) {
            void* begin = nullptr;
            std::size_t size = 0;
            if (::pthread_attr_getstack(&attributes, &begin, &size) == 0) {
                self.stackEnd = reinterpret_cast<std::uintptr_t>(begin) + size;
            }
            ::pthread_attr_destroy(&attributes);
        }
    }
    return self.stackEnd;
}

} // namespace heapwright::drag

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Exceptions for the few heaps that throw, or that call code that may throw. In a program compiled
// without exceptions, `throwBadAlloc` aborts and `nullIfThrown` catches nothing.
#pragma once

#include <cstdlib>
#include <new>

namespace heapwright::platform {

#if defined(__cpp_exceptions)

[[noreturn, gnu::cold, gnu::noinline]] static inline void throwBadAlloc() {
    throw std::bad_alloc();
}

/// Returns the pointer that `make` returns, or null if it throws.
template <class Make>
[[nodiscard]] static inline auto nullIfThrown(Make make) noexcept -> decltype(make()) {
    try {
        return make();
    } catch (...) {
        return nullptr;
    }
}

#else

[[noreturn, gnu::cold, gnu::noinline]] static inline void throwBadAlloc() {
    std::abort();
}

template <class Make>
[[nodiscard]] static inline auto nullIfThrown(Make make) noexcept -> decltype(make()) {
    return make();
}

#endif

} // namespace heapwright::platform

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Exceptions, for the few heaps that throw one or are given memory by what may. In a program that
// is compiled without exceptions these say the same with what is left: whoever would throw ends the
// program, and nothing needs catching.
#pragma once

#include <cstdlib>
#include <new>

namespace heapwright::platform {

#if defined(__cpp_exceptions)

[[noreturn, gnu::cold, gnu::noinline]] static inline void throwBadAlloc() {
    throw std::bad_alloc();
}

/// What `make` answers, a pointer; null if it throws.
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

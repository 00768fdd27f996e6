// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Hides the origin of a value from the compiler. A few places need this, where the compiler would
// otherwise keep one value in two registers.
// Cost: none.
#pragma once

#include <cstddef>

namespace heapwright::platform {

[[nodiscard, gnu::always_inline]] inline std::size_t opaque(std::size_t value) noexcept {
    asm("" : "+r"(value)); // NOLINT(hicpp-no-assembler)
    return value;
}

/// Hides the origin and keeps the value in the register of the function's result. This prevents a
/// load into another register and a move.
template <class T>
[[nodiscard, gnu::always_inline]] inline T* asAnswer(T* value) noexcept {
#if defined(__x86_64__)
    asm("" : "+a"(value)); // NOLINT(hicpp-no-assembler)
#endif
    return value;
}

} // namespace heapwright::platform

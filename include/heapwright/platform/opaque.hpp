// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A value of which the compiler does not know where it comes from: for the few places where what it
// knows makes it keep two registers for one value. Cost: none.
#pragma once

#include <cstddef>

namespace heapwright::platform {

[[nodiscard, gnu::always_inline]] inline std::size_t opaque(std::size_t value) noexcept {
    asm("" : "+r"(value)); // NOLINT(hicpp-no-assembler)
    return value;
}

/// The same, in the register in which a function answers: for what is about to be the answer, lest
/// it is loaded elsewhere and moved there.
template <class T>
[[nodiscard, gnu::always_inline]] inline T* asAnswer(T* value) noexcept {
#if defined(__x86_64__)
    asm("" : "+a"(value)); // NOLINT(hicpp-no-assembler)
#endif
    return value;
}

} // namespace heapwright::platform

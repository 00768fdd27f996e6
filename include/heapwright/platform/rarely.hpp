// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Tells the compiler that a condition is hardly ever true. `[[unlikely]]` counts as one time in
// ten. Around a call that is as seldom as this, the compiler keeps values in registers that a
// function need not save. Cost: none.
#pragma once

namespace heapwright::platform {

[[nodiscard, gnu::always_inline]] constexpr bool rarely(bool condition) noexcept {
    return __builtin_expect_with_probability(static_cast<long>(condition), 0L, 0.999) != 0;
}

} // namespace heapwright::platform

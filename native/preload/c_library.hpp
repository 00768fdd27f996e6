// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What differs between the C libraries in the declarations of the functions that are replaced.
#pragma once

#include <cstdlib> // any header of the C library names it

namespace heapwright::preload {

/// Whether the C library declares its functions `noexcept` in C++. A definition must agree with the
/// declaration.
#if defined(__GLIBC__)
inline constexpr bool cFunctionsAreNoexcept = true;
#else
inline constexpr bool cFunctionsAreNoexcept = false;
#endif

} // namespace heapwright::preload

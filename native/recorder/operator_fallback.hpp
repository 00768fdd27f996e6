// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds whether the program replaces operators new and delete. A program that replaces some of them
// may allocate with its own operator and free with the recorder's. If a program replaces one that
// matters, the recorder records no operator. It records the malloc below it instead.
#pragma once

namespace heapwright::recorder {

/// Called once, when the libraries of the program are loaded. Operators of the library that has the
/// function `also` do not belong to the program.
void findOperatorOwner(const void* also = nullptr) noexcept;

/// Whether a relevant operator belongs to the program.
extern constinit bool programReplacesOperators;

} // namespace heapwright::recorder

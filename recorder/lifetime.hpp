// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What is done once in the life of a process: at its start, when all libraries are bound.
#pragma once

namespace heapwright::recorder {

/// Whether the operators of C++ are ours to record (operators.cpp).
void findWhoseOperators() noexcept;

} // namespace heapwright::recorder

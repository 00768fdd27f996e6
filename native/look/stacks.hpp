// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The stacks of threads. glibc maps a stack above pages without rights. At its upper end is the
// thread's description, which contains its own address twice. The stack of an ended thread may stay
// mapped for the next one.
#pragma once

#include "image.hpp"

#include <vector>

namespace heapwright::look {

struct Stack {
    Address begin;
    Address end;
    bool isEnded; ///< its thread has ended
};

/// Ascending.
std::vector<Stack> threadStacks(const Image& image);

} // namespace heapwright::look

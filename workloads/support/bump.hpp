// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The lower limit of an allocator's cost: a pointer that moves through chunks. A chunk counts its
// live objects and is reused when there are none, so that a long run needs bounded memory. It
// records nothing else. It is not for production: one long-lived object holds a whole chunk.
#pragma once

#include "calls.hpp"

namespace heapwright::workloads {

/// The calls of the bump pointer. With one thread, the counts need no atomic read-modify-write.
Calls bumpCalls(bool oneThread);

/// Around a fork.
void holdBump();
void releaseBump();

} // namespace heapwright::workloads

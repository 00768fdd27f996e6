// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The limit that an allocator's speed is held against: a pointer that moves through chunks. A chunk
// counts its live objects, and serves again when there are none, which is what keeps a long run in
// bounded memory; nothing else is remembered of an object. It is no allocator for use: one
// long-lived object holds a whole chunk.
#pragma once

#include "calls.hpp"

namespace heapwright::workloads {

/// The calls of the bump pointer. With one thread the counts need no atomic read-modify-write.
Calls bumpCalls(bool oneThread);

/// Around a fork.
void holdBump();
void releaseBump();

} // namespace heapwright::workloads

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that take turns: after each call of the allocator a thread lets the others go first. So
// what they do to each other inside the allocator comes about as on a machine with a processor for
// each of them, on any number of processors; how long it takes says nothing then.
#pragma once

#include "calls.hpp"

namespace heapwright::workloads {

/// Puts the turns on `under`; call before the first thread starts.
Calls interleavedCalls(const Calls& under);

} // namespace heapwright::workloads

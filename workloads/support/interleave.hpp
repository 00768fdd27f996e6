// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that take turns: after each call of the allocator, a thread lets the other threads run.
// Their interactions inside the allocator are thus as on a machine with a processor for each, on
// any number of processors. Times are meaningless then.
#pragma once

#include "calls.hpp"

namespace heapwright::workloads {

/// Adds the turns to `under`. Call it before the first thread starts.
Calls interleavedCalls(const Calls& under);

} // namespace heapwright::workloads

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Kingsley's allocator with a record of every call, written to a file for each process.
#pragma once

#include <heapwright/allocators/kingsley.hpp>

namespace heapwright::observed {

namespace traced {
using Sink = DescriptorTrace<ToFilePerProcess, 4 * KiB>;        // HEAPWRIGHT_TRACE names it
using Written = TraceHeap<Sink, allocators::kingsley::Aligned>; // what happens, in order
using Locked = LockedHeap<FutexLock, Written>;                  // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;                      // a handler may interrupt
} // namespace traced

using Traced = ANSIWrapper<traced::SignalSafe>; // the C rules

} // namespace heapwright::observed

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Each object at the end of pages of its own: the processor sees what goes beyond.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::misuse {

namespace guard {
using Pages = GuardPageHeap<64 * MiB>;       // freed addresses wait that long
using Locked = LockedHeap<FutexLock, Pages>; // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;   // a handler may interrupt
} // namespace guard

using Guard = ANSIWrapper<guard::SignalSafe>; // the C rules

} // namespace heapwright::misuse

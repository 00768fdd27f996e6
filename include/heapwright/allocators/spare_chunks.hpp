// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the regions and reaps of a program take their chunks: malloc, before which what they have
// given back waits, up to 4 MiB in all. A region that ends leaves its chunks, warm and with their
// pages, to the next one, and not to whatever malloc makes of them.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace spare_chunks {
using Kept = SpareHeap<FutexLock, 4 * MiB, MallocHeap>;
struct Name {};
using OneForAll = UniqueHeap<Name, Kept>;
} // namespace spare_chunks

using SpareChunks = spare_chunks::OneForAll;

static_assert(ConcurrentHeap<SpareChunks> && SizedHeap<SpareChunks> && MaxAlignedHeap<SpareChunks>);

} // namespace heapwright::allocators

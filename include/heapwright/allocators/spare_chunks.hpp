// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The source of chunks for a program's regions and reaps: malloc, behind a cache of up to 4 MiB of
// returned chunks. A region that ends thus leaves its chunks, with their pages and in the
// processor's cache, to the next region.
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

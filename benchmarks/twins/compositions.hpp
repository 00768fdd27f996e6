// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The compositions that have a hand-written twin in this folder.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::twins {

using Pages = ChunkHeap<64 * KiB, 0, MmapHeap>; // objects carved from mapped chunks
using Pool = FreelistHeap<Pages>;               // freed ones wait on a list: freelist_pool.c

using Region = ZoneHeap<64 * KiB, MallocHeap>; // freed all at once: region.c

using Xalloc = XallocHeap<16 * MiB, MallocHeap>; // after the last one in use: xalloc.c

} // namespace heapwright::twins

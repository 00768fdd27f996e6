// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Regions emulated on any heap: the heap allocates each object, and the objects are freed with
// their region. The records of all such regions come from one heap of mapped memory, behind a lock.
// A small region takes some hundred bytes of it, not a page. The program's malloc is not involved.
#pragma once

#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/combine/select_mmap_heap.hpp>
#include <heapwright/layers/combine/strict_seg_heap.hpp>
#include <heapwright/layers/combine/unique_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/region/emulated_region_heap.hpp>
#include <heapwright/layers/region/nested_heap.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/source/null_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/sizeclass/large_limit.hpp>
#include <heapwright/sizeclass/power_of_two.hpp>
#include <heapwright/sync/futex_lock.hpp>

namespace heapwright::allocators {

namespace emulated {
using Chunks = ChunkHeap<256 * KiB, 8, MmapHeap>; // pages, carved once
using Sized = SizeHeap<Chunks>;                   // each array remembers its size
using PerClass = FreelistHeap<NullHeap>;          // freed objects wait on the list of their class
using Small = StrictSegHeap<PowerOfTwo<20>, PerClass, Sized>; // arrays double, as the classes do
using Selected = SelectMmapHeap<FixedLimit<64 * KiB>, MmapHeap, Small>; // large arrays: whole pages
using Locked = LockedHeap<FutexLock, Selected>;                         // one thread at a time
struct Name {};
using Records = UniqueHeap<Name, Locked>; // one heap for all regions
} // namespace emulated

/// A region that cannot be nested.
template <AnyOrderHeap SuperHeap>
using EmulatedRegion = EmulatedRegionHeap<emulated::Records, SuperHeap>;

/// Regions that can be nested in each other.
template <AnyOrderHeap SuperHeap>
using NestedEmulatedRegion = NestedHeap<EmulatedRegion<SuperHeap>>;

} // namespace heapwright::allocators

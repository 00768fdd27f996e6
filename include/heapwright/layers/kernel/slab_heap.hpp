// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Linux's SLAB as a heap: caches of equal objects, and general caches for `malloc`. Each processor
// has an array of free objects in front of full, partial and free slabs
// (structure/kernel/slab_model.hpp).
//
// A request takes the last object of its processor's array. An empty array is refilled with a batch
// from the shared array, partial slabs, free slabs or new pages, in this order. A free adds to the
// array; a full array first returns a batch. The free objects of a cache with a constructor stay
// constructed. Requests larger than the largest general cache return null. `Processors` determines
// the processor of a thread (structure/thread/processor_selector.hpp). Where the kernel disables
// interrupts, this takes a lock of the processor.
// Cost: mostly a lock, a load and a store.
// Source: mm/slab.c of Linux 6.1; Bonwick (1994, 2001).
//
// Example: SlabHeap<RealProcessors<8>, FutexLock, KernelPageHeap<1, 16 * MiB, FutexLock, MmapHeap>>
#pragma once

#include <heapwright/core/describe.hpp>
#include <heapwright/structure/kernel/kernel_caches.hpp>
#include <heapwright/structure/kernel/slab_model.hpp>
#include <heapwright/structure/thread/heap_selector.hpp>
#include <heapwright/sync/lock.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <HeapSelector Processors, Lock Mutex, PagedHeap SuperHeap>
class SlabHeap
    : public KernelCaches<SlabModel<Processors, SuperHeap::nodes, Mutex>, Mutex, SuperHeap> {
public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool uniform = false;
    static constexpr bool concurrent = true;
    static constexpr bool processLocal = true;
    static constexpr std::string_view caption =
        "arrays of free objects before slabs, as Linux's SLAB";
    using Below = Heaps<SuperHeap>;

    constexpr SlabHeap() noexcept = default; ///< makes it no aggregate of its base
};

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Linux's SLAB as a heap: caches of equal objects with an array of free ones for each processor
// before full, partial and free slabs (structure/kernel/slab_model.hpp), and general caches for
// `malloc`.
//
// A request takes the last object of its processor's array; an empty array gets a batch, from what
// the processors share, from partial slabs, from free ones, from new pages. A free goes onto the
// array; from a full one a batch goes the other way. Objects of a cache with a constructor stay
// constructed while they are free. Larger requests than the largest general cache get null.
// `Processors` says on which processor a thread is (structure/thread/processor_selector.hpp). Where
// the kernel turns interrupts off, a lock of the processor's is taken. From mm/slab.c of Linux 6.1;
// Bonwick (1994, 2001). Cost: a lock, a load and a store, mostly.
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

    constexpr SlabHeap() noexcept = default; ///< so that it is no aggregate of its base
};

} // namespace heapwright

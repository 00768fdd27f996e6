// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Linux's SLQB, which was never merged, as a heap. It has caches of equal objects with a queue of
// free objects for each processor (structure/kernel/slqb_model.hpp). General caches serve `malloc`.
//
// A request takes the first object of its processor's queue. If that is empty, it takes the objects
// that other processors have freed for this one. Next it takes an object of one of the processor's
// slabs, and finally new pages. A free adds to the queue if the object's slab belongs to the
// processor. Otherwise the object is collected with others for its owner. Requests larger than the
// largest general cache return null. `Processors` determines the processor of a thread
// (structure/thread/processor_selector.hpp). Where the kernel disables interrupts, this takes a
// lock of the processor.
// Cost: mostly a lock, a load and a store.
// Source: Piggin's patch for Linux 2.6.30.
//
// Example: SlqbHeap<RealProcessors<8>, FutexLock, KernelPageHeap<1, 16 * MiB, FutexLock, MmapHeap>>
#pragma once

#include <heapwright/core/describe.hpp>
#include <heapwright/structure/kernel/kernel_caches.hpp>
#include <heapwright/structure/kernel/slqb_model.hpp>
#include <heapwright/structure/thread/heap_selector.hpp>
#include <heapwright/sync/lock.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <HeapSelector Processors, Lock Mutex, PagedHeap SuperHeap>
class SlqbHeap
    : public KernelCaches<SlqbModel<Processors, SuperHeap::nodes, Mutex>, Mutex, SuperHeap> {
public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool uniform = false;
    static constexpr bool concurrent = true;
    static constexpr bool processLocal = true;
    static constexpr std::string_view caption =
        "a queue of free objects for each processor, as Linux's SLQB";
    using Below = Heaps<SuperHeap>;

    constexpr SlqbHeap() noexcept = default; ///< makes it no aggregate of its base
};

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Linux's SLQB as a heap, which was never merged: caches of equal objects with a queue of free ones
// for each processor (structure/kernel/slqb_model.hpp), and general caches for `malloc`.
//
// A request takes the first object of its processor's queue, then what others have freed of the
// processor's own, then an object of one of its slabs, and new pages at last. A free goes onto the
// queue if the object's slab is the processor's, else it waits with others to be handed over.
// Larger requests than the largest general cache get null. `Processors` says on which processor a
// thread is (structure/thread/processor_selector.hpp). Where the kernel turns interrupts off, a
// lock of the processor's is taken. After Piggin's patch for Linux 2.6.30. Cost: a lock, a load and
// a store, mostly.
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

    constexpr SlqbHeap() noexcept = default; ///< so that it is no aggregate of its base
};

} // namespace heapwright

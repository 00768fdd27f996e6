// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Linux's SLUB as a heap. It has caches of equal objects in slabs whose only metadata are the
// descriptors of the pages (structure/kernel/slub_model.hpp). General caches serve `malloc`.
//
// A request takes from the processor's list of the active slab. If that is empty, it takes the
// objects that other processors have freed into that slab. The next sources are a slab that the
// processor keeps, one from the node's list, and new pages. A free into the active slab goes to the
// processor's list. Any other goes to its slab, which the processor then keeps if it was full. An
// empty slab is returned at once unless the node has few partial ones.
//
// Caches of equal objects are merged, unless they keep state. Requests larger than two pages are
// blocks of pages. Requests larger than a block return null. `Processors` determines the processor
// of a thread (structure/thread/processor_selector.hpp). Where the kernel disables preemption, this
// takes a lock of the processor.
// Cost: mostly a lock, a load and a store.
// Source: mm/slub.c of Linux 6.1; Lameter (2007).
//
// Example: SlubHeap<RealProcessors<8>, FutexLock, KernelPageHeap<1, 16 * MiB, FutexLock, MmapHeap>>
#pragma once

#include <heapwright/core/describe.hpp>
#include <heapwright/structure/kernel/kernel_caches.hpp>
#include <heapwright/structure/kernel/slub_model.hpp>
#include <heapwright/structure/thread/heap_selector.hpp>
#include <heapwright/sync/lock.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <HeapSelector Processors, Lock Mutex, PagedHeap SuperHeap>
class SlubHeap
    : public KernelCaches<SlubModel<Processors, SuperHeap::nodes, Mutex>, Mutex, SuperHeap> {
public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool uniform = false;
    static constexpr bool concurrent = true;
    static constexpr bool processLocal = true;
    static constexpr std::string_view caption = "slabs without metadata, as Linux's SLUB";
    using Below = Heaps<SuperHeap>;

    constexpr SlubHeap() noexcept = default; ///< makes it no aggregate of its base
};

} // namespace heapwright

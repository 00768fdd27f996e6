// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Linux's SLUB as a heap: caches of equal objects in slabs that have no metadata but the pages'
// descriptors (structure/kernel/slub_model.hpp), and general caches for `malloc`.
//
// A request takes what its processor has taken over from the active slab; then what others have
// freed into that slab since; then a slab that the processor keeps, one from the node's list, and
// new pages at last. A free into the active slab goes to the processor's list, any other into its
// slab, which the processor then keeps if it was full. A slab that is empty goes back at once
// unless the node has few with room. Caches of like objects are one, unless they keep state. Larger
// requests than two pages are blocks of pages; larger ones than a block get null.
// `Processors` says on which processor a thread is (structure/thread/processor_selector.hpp). Where
// the kernel turns preemption off, a lock of the processor's is taken. From mm/slub.c of Linux 6.1;
// Lameter (2007). Cost: a lock, a load and a store, mostly.
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

    constexpr SlubHeap() noexcept = default; ///< so that it is no aggregate of its base
};

} // namespace heapwright

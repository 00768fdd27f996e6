// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The catalogue of heaps. No header of the library includes this one; compositions do.
//
// The verbs of a heap, by tier. The header of each tier states them exactly; only the first two
// verbs are required.
//
// core (core/concepts.hpp):
//   malloc(size)              memory, or null
//   free(object)              takes an object back
//   getSize(object)           the bytes of it that may be used
//   memalign(align, size)     malloc at any power of two
//   resize(object, size)      grows or shrinks in place; false if it cannot
//   clear()                   takes everything back at once
//
// variants of a request (core/requests.hpp):
//   zalloc(size)              malloc of zero bytes, where that costs less than a fill
//   relocate(object, size)    moves the pages, not the bytes; null if it cannot
//   mallocAt(size, align, phase) memalign at a phase
//   free(object, size)        free by a caller that knows the size
//   malloc(size, recycle)     malloc that runs `recycle` on a reused object
//
// bulk (core/bulk.hpp):
//   mallocBatch(size, count)  a chain of several objects in one step
//   freeBatch(chain)          takes a chain back in one step
//   mallocHeld(size)          malloc from held memory, never from below
//   memalignHeld(align, size) memalign in the same way
//   tryRetain(object)         free, if there is room to keep it; else false
//   mallocArea(least, granted) the rest of a chunk
//   flush()                   returns held objects to the heap below
//   trim(pad)                 returns memory to the system
//   purgeExpired()            returns what has expired; when to call again
//
// introspection (core/introspection.hpp):
//   measure(usage)            how much memory it has and holds
//   inspect(snapshot)         figures of classes, caches and locks
//   walk(visit)               shows each live object
//   forEachRun(visit)         shows each run in use
//   owns(object)              tells its own objects from those of others
//   mark(object)              shows an object as cached during a walk
//   unmark()                  ends that
//   check(object, routine)    ends the program unless it is a live object
//   getSizeUnlocked(object)   getSize without a lock
//
// fork and signals (core/fork_and_signals.hpp):
//   beforeFork() ...          is quiescent while the process forks
//   heldByThisThread()        whether the calling thread holds all of it
//   attempt(body)             runs the body inside the lock if it is free
//
// The fast-path verbs are private to the caches (structure/cache/fast_path.hpp).
//
// Beside the layers, heapwright/adaptor/ turns heaps into what C++ programs expect: memory
// resources and allocators. The layers, by what they do to a request:
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/immortal.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>

// source: where memory comes from
#include <heapwright/layers/source/allocator_heap.hpp>     // a standard allocator
#include <heapwright/layers/source/extent_heap.hpp>        // runs of units, given back in time
#include <heapwright/layers/source/guard_page_heap.hpp>    // pages that fault around each object
#include <heapwright/layers/source/huge_page_heap.hpp>     // huge pages
#include <heapwright/layers/source/malloc_heap.hpp>        // the system's malloc
#include <heapwright/layers/source/mapped_file_heap.hpp>   // a file
#include <heapwright/layers/source/mmap_heap.hpp>          // a mapping for each object
#include <heapwright/layers/source/null_heap.hpp>          // never has memory
#include <heapwright/layers/source/pmr_heap.hpp>           // a std::pmr memory resource
#include <heapwright/layers/source/reserve_heap.hpp>       // regions for growing runs
#include <heapwright/layers/source/sbrk_heap.hpp>          // contiguous memory at the program break
#include <heapwright/layers/source/shared_memory_heap.hpp> // memory that forked processes share
#include <heapwright/layers/source/static_buffer_heap.hpp> // a buffer of its own

// carve: small from large
#include <heapwright/layers/carve/aligned_block_heap.hpp>  // blocks for superblocks
#include <heapwright/layers/carve/bitmap_slab_heap.hpp>    // one size, a bitmap per slab
#include <heapwright/layers/carve/buddy_heap.hpp>          // halves, and merges the halves
#include <heapwright/layers/carve/bump_heap.hpp>           // chunks that are left behind
#include <heapwright/layers/carve/chunk_heap.hpp>          // piece by piece out of chunks
#include <heapwright/layers/carve/coalesce_heap.hpp>       // splits and merges
#include <heapwright/layers/carve/kernel_page_heap.hpp>    // a kernel's pages
#include <heapwright/layers/carve/sequential_fit_heap.hpp> // splits and merges, by a fit
#include <heapwright/layers/carve/superblock_heap.hpp>     // size classes in superblocks

// object: how an object is represented
#include <heapwright/layers/object/align_heap.hpp>           // any alignment, by a displaced header
#include <heapwright/layers/object/ansi_wrapper.hpp>         // the C rules
#include <heapwright/layers/object/checked_heap.hpp>         // aborts on a wrong free
#include <heapwright/layers/object/coalesceable_heap.hpp>    // tags that know their neighbours
#include <heapwright/layers/object/guard_gap_heap.hpp>       // closed pages behind each run
#include <heapwright/layers/object/per_class_heap.hpp>       // operator new of a class
#include <heapwright/layers/object/size_heap.hpp>            // the size in a tag before the object
#include <heapwright/layers/object/throw_exception_heap.hpp> // std::bad_alloc for null
#include <heapwright/layers/object/unit_object_heap.hpp>     // large ones in runs of units
#include <heapwright/layers/object/zero_on_free_heap.hpp>    // nothing left in freed objects

// reuse: what is freed serves again
#include <heapwright/layers/reuse/adapt_heap.hpp>            // any dictionary as a freelist
#include <heapwright/layers/reuse/bounded_freelist_heap.hpp> // no more than so many
#include <heapwright/layers/reuse/dl_list.hpp>               // first in, first out
#include <heapwright/layers/reuse/freelist_heap.hpp>         // last in, first out
#include <heapwright/layers/reuse/quarantine_heap.hpp>       // late, poisoned and checked
#include <heapwright/layers/reuse/random_freelist_heap.hpp>  // drawn at random
#include <heapwright/layers/reuse/spare_heap.hpp>            // chunks, up to a sum

// combine: several heaps as one
#include <heapwright/layers/combine/hybrid_heap.hpp>      // one up to a size, one above
#include <heapwright/layers/combine/seg_heap.hpp>         // by size class, upward for a fit
#include <heapwright/layers/combine/select_mmap_heap.hpp> // large ones are mapped
#include <heapwright/layers/combine/split_heap.hpp>       // one up to a size, by address
#include <heapwright/layers/combine/strict_seg_heap.hpp>  // a list per size class
#include <heapwright/layers/combine/threshold_heap.hpp>   // merge on a large request
#include <heapwright/layers/combine/try_heap.hpp>         // one, and the other when it has none
#include <heapwright/layers/combine/unique_heap.hpp>      // one, by its name

// thread: who may be inside
#include <heapwright/layers/thread/arena_heap.hpp>             // several, objects go home
#include <heapwright/layers/thread/batch_cache_heap.hpp>       // freed objects, by batches
#include <heapwright/layers/thread/handler_safe_heap.hpp>      // a handler that interrupted
#include <heapwright/layers/thread/hoard_heap.hpp>             // one each, and a global one
#include <heapwright/layers/thread/locked_heap.hpp>            // one at a time
#include <heapwright/layers/thread/owner_cache_heap.hpp>       // freed objects, each at home
#include <heapwright/layers/thread/pho_thread_heap.hpp>        // one each, objects go home
#include <heapwright/layers/thread/signal_safe_heap.hpp>       // nobody twice
#include <heapwright/layers/thread/thread_cache_heap.hpp>      // freed objects, by thread and class
#include <heapwright/layers/thread/thread_heap.hpp>            // one each, objects stay
#include <heapwright/layers/thread/thread_quarantine_heap.hpp> // late, poisoned, each thread its own

// observe: what can be seen of a heap
#include <heapwright/layers/observe/bounded_heap.hpp>     // so much may be live
#include <heapwright/layers/observe/canary_heap.hpp>      // both ends of an object guarded
#include <heapwright/layers/observe/debug_heap.hpp>       // a map of live objects, memory filled
#include <heapwright/layers/observe/live_map_heap.hpp>    // two bits for each live object
#include <heapwright/layers/observe/profile_heap.hpp>     // fragmentation
#include <heapwright/layers/observe/statistics_heap.hpp>  // counts, sizes, what is live
#include <heapwright/layers/observe/tail_canary_heap.hpp> // the end of an object guarded
#include <heapwright/layers/observe/trace_heap.hpp>       // a record of every call

// kernel: after the object allocators of Linux
#include <heapwright/layers/kernel/slab_heap.hpp> // arrays of free objects before slabs
#include <heapwright/layers/kernel/slob_heap.hpp> // first fit in shared pages
#include <heapwright/layers/kernel/slqb_heap.hpp> // queues, handed back to their owners
#include <heapwright/layers/kernel/slub_heap.hpp> // slabs without metadata

// region: freed all at once, or from the end
#include <heapwright/layers/region/clear_optimized_heap.hpp> // a region until something is freed
#include <heapwright/layers/region/emulated_region_heap.hpp> // object by object, on any heap
#include <heapwright/layers/region/nested_heap.hpp>          // children die with their parent
#include <heapwright/layers/region/obstack_heap.hpp>         // a stack of growing objects
#include <heapwright/layers/region/region_heap.hpp>          // chunks that double in size
#include <heapwright/layers/region/xalloc_heap.hpp>          // after the last object in use
#include <heapwright/layers/region/zone_heap.hpp>            // chunks of one size

// policies
#include <heapwright/sizeclass/at_least.hpp>           // another's classes, from a size on
#include <heapwright/sizeclass/exact.hpp>              // blocks of 32, 48, 64 ...
#include <heapwright/sizeclass/from_list.hpp>          // blocks as listed
#include <heapwright/sizeclass/geometric.hpp>          // blocks in a fixed ratio
#include <heapwright/sizeclass/geometric_slots.hpp>    // slots in a fixed ratio, without tags
#include <heapwright/sizeclass/large_limit.hpp>        // what is large
#include <heapwright/sizeclass/linear_slots.hpp>       // slots 16 apart, and then in steps
#include <heapwright/sizeclass/per_doubling.hpp>       // steps within each doubling, as jemalloc
#include <heapwright/sizeclass/power_of_two.hpp>       // blocks of 2^k bytes
#include <heapwright/sizeclass/up_to.hpp>              // the first of another's classes
#include <heapwright/sizeclass/waste.hpp>              // what classes lose at worst
#include <heapwright/structure/cache/cache_limits.hpp> // how much a thread keeps
#include <heapwright/structure/cache/fast_path.hpp>    // verbs between caches and entry points
#include <heapwright/structure/cache/freelist_encoding.hpp> // links of freed objects, plain or encoded
#include <heapwright/structure/extent/purge_policy.hpp>     // when free memory goes back
#include <heapwright/structure/extent/system_extents.hpp> // pages and the clock
#include <heapwright/structure/fit/exact_fit.hpp>         // a list per size, another fit beyond
#include <heapwright/structure/fit/sequential_fits.hpp>   // the first, next or best of one list
#include <heapwright/structure/fit/size_tree.hpp>         // the best of a tree
#include <heapwright/structure/fit/size_tries.hpp>        // the best of tries
#include <heapwright/structure/fit/unsorted_bins.hpp>     // bins, into which blocks are sorted late
#include <heapwright/structure/observe/descriptor_trace.hpp>  // a trace as text, to a file
#include <heapwright/structure/observe/ring_trace.hpp>        // the latest of a trace, in memory
#include <heapwright/structure/settings/granary_settings.hpp> // what may be set of granary
#include <heapwright/structure/superblock/emptiness.hpp>      // how empty a heap may become
#include <heapwright/structure/thread/arena_policy.hpp>       // which of several heaps serves
#include <heapwright/structure/thread/heap_selector.hpp>      // which heap is the thread's
#include <heapwright/structure/thread/processor_selector.hpp> // on which processor a thread is
#include <heapwright/sync/futex_lock.hpp>                     // one word, sleeps in the kernel
#include <heapwright/sync/shared_futex_lock.hpp>              // the same between processes

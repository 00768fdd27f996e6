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
//   free(object)              frees an object
//   getSize(object)           its usable bytes
//   memalign(align, size)     malloc at any power of two
//   resize(object, size)      grows or shrinks in place; false if it cannot
//   clear()                   frees everything at once
//
// variants of a request (core/requests.hpp):
//   zalloc(size)              malloc of zero bytes, where that costs less than a fill
//   relocate(object, size)    moves the pages, not the bytes; null if it cannot
//   mallocAt(size, align, phase) memalign at a phase
//   free(object, size)        free by a caller that knows the size
//   freeKnown(object, usable) free with the size from getSize
//   malloc(size, recycle)     malloc that runs `recycle` on a reused object
//   tryMallocFrom(size, caller) malloc for the call sites that are served specially, else null
//   resolveSites()            finds these call sites in the loaded code
//
// bulk (core/bulk.hpp):
//   mallocBatch(size, count)  a chain of several objects in one step
//   freeBatch(chain)          frees a chain in one step
//   mallocHeld(size)          malloc from held memory only
//   memalignHeld(align, size) memalign in the same way
//   tryRetain(object)         free, if there is room to keep it; else false
//   mallocArea(least, granted) the rest of a chunk
//   flush()                   returns held objects to the heap below
//   trim(pad)                 returns memory to the system
//   purgeExpired()            returns expired memory; when to call again
//
// introspection (core/introspection.hpp):
//   measure(usage)            how much memory it has and holds
//   inspect(snapshot)         figures of classes, caches and locks
//   walk(visit)               visits each live object
//   forEachRun(visit)         visits each run in use
//   owns(object)              whether an object is of this heap
//   isHome(object)            whether an object is of the part that serves the thread now
//   mark(object)              reports an object as cached during a walk
//   unmark()                  ends the marks
//   check(object, routine)    ends the program unless it is a live object
//   checkRequest(object, size, align, routine) check, and that it was requested so
//   describe(descriptor, address) prints what is known of the object there
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
#include <heapwright/layers/source/discipline_heap.hpp>    // functions of the program
#include <heapwright/layers/source/extent_heap.hpp>        // runs of units, with decay
#include <heapwright/layers/source/guard_page_heap.hpp>    // inaccessible pages around objects
#include <heapwright/layers/source/huge_page_heap.hpp>     // huge pages
#include <heapwright/layers/source/malloc_heap.hpp>        // the system's malloc
#include <heapwright/layers/source/mapped_file_heap.hpp>   // a file
#include <heapwright/layers/source/mmap_heap.hpp>          // a mapping for each object
#include <heapwright/layers/source/null_heap.hpp>          // never has memory
#include <heapwright/layers/source/pmr_heap.hpp>           // a std::pmr memory resource
#include <heapwright/layers/source/reserve_heap.hpp>       // regions for growing runs
#include <heapwright/layers/source/sbrk_heap.hpp>          // contiguous memory at the program break
#include <heapwright/layers/source/shared_memory_heap.hpp> // memory that forked processes share
#include <heapwright/layers/source/static_buffer_heap.hpp> // a buffer in the heap object

// carve: small objects from large blocks
#include <heapwright/layers/carve/aligned_block_heap.hpp>  // the memory of superblocks
#include <heapwright/layers/carve/bitmap_slab_heap.hpp>    // one size, a bitmap per slab
#include <heapwright/layers/carve/buddy_heap.hpp>          // binary buddies
#include <heapwright/layers/carve/bump_heap.hpp>           // pieces that are never returned
#include <heapwright/layers/carve/chunk_heap.hpp>          // pieces of chunks, freed together
#include <heapwright/layers/carve/coalesce_heap.hpp>       // splits and merges, by bins
#include <heapwright/layers/carve/kernel_page_heap.hpp>    // a kernel's page allocator
#include <heapwright/layers/carve/sequential_fit_heap.hpp> // splits and merges, by any fit
#include <heapwright/layers/carve/superblock_heap.hpp>     // size classes in superblocks

// object: how an object is represented
#include <heapwright/layers/object/align_heap.hpp>           // any alignment, by a displaced header
#include <heapwright/layers/object/ansi_wrapper.hpp>         // the rules of C's malloc
#include <heapwright/layers/object/checked_heap.hpp>         // aborts on a wrong free
#include <heapwright/layers/object/coalesceable_heap.hpp>    // boundary tags
#include <heapwright/layers/object/empty_object_heap.hpp>    // zero bytes without access
#include <heapwright/layers/object/guard_gap_heap.hpp>       // inaccessible pages behind runs
#include <heapwright/layers/object/per_class_heap.hpp>       // a C++ class's operator new
#include <heapwright/layers/object/size_heap.hpp>            // the size in a tag before the object
#include <heapwright/layers/object/throw_exception_heap.hpp> // std::bad_alloc instead of null
#include <heapwright/layers/object/unit_object_heap.hpp>     // large objects in runs of units
#include <heapwright/layers/object/zero_on_free_heap.hpp>    // zeroes freed objects
#include <heapwright/layers/object/zero_on_malloc_heap.hpp>  // zeroes objects before they are used

// reuse: how freed objects are reused
#include <heapwright/layers/reuse/adapt_heap.hpp>            // any dictionary as a freelist
#include <heapwright/layers/reuse/bounded_freelist_heap.hpp> // a bounded list
#include <heapwright/layers/reuse/dl_list.hpp>               // first in, first out
#include <heapwright/layers/reuse/freelist_heap.hpp>         // last in, first out
#include <heapwright/layers/reuse/quarantine_heap.hpp>       // delayed, poisoned and checked
#include <heapwright/layers/reuse/random_freelist_heap.hpp>  // random order
#include <heapwright/layers/reuse/spare_heap.hpp>            // large objects, up to a sum

// combine: several heaps as one
#include <heapwright/layers/combine/call_site_heap.hpp>   // a heap for some call sites
#include <heapwright/layers/combine/hybrid_heap.hpp>      // two heaps, by size
#include <heapwright/layers/combine/seg_heap.hpp>         // by size class, upward for a fit
#include <heapwright/layers/combine/select_mmap_heap.hpp> // large objects are mapped
#include <heapwright/layers/combine/split_heap.hpp>       // two heaps, by size and address
#include <heapwright/layers/combine/strict_seg_heap.hpp>  // a list per size class
#include <heapwright/layers/combine/threshold_heap.hpp>   // merge on a large request
#include <heapwright/layers/combine/try_heap.hpp>         // two heaps, the second without memory
#include <heapwright/layers/combine/unique_heap.hpp>      // one heap, named by its type

// thread: several threads, and signal handlers
#include <heapwright/layers/thread/arena_heap.hpp>        // several heaps, ownership by address
#include <heapwright/layers/thread/batch_cache_heap.hpp>  // thread caches with depots
#include <heapwright/layers/thread/handler_safe_heap.hpp> // signal handlers, no flag
#include <heapwright/layers/thread/hoard_heap.hpp>        // thread heaps and a global one
#include <heapwright/layers/thread/locked_heap.hpp>       // one lock
#include <heapwright/layers/thread/owner_cache_heap.hpp>  // caches of each thread's own objects
#include <heapwright/layers/thread/pho_thread_heap.hpp>   // thread heaps with ownership
#include <heapwright/layers/thread/signal_safe_heap.hpp>  // signal handlers, by a flag
#include <heapwright/layers/thread/thread_cache_heap.hpp> // thread caches by size class
#include <heapwright/layers/thread/thread_heap.hpp>       // thread heaps without ownership
#include <heapwright/layers/thread/thread_quarantine_heap.hpp> // delayed reuse for each thread

// observe: figures and checks
#include <heapwright/layers/observe/bounded_heap.hpp>      // limits the live bytes
#include <heapwright/layers/observe/canary_heap.hpp>       // canaries at both ends of objects
#include <heapwright/layers/observe/debug_heap.hpp>        // a map of live objects, and fills
#include <heapwright/layers/observe/guard_sample_heap.hpp> // one of n objects on a guarded page
#include <heapwright/layers/observe/live_map_heap.hpp>     // two bits for each live object
#include <heapwright/layers/observe/profile_heap.hpp>      // fragmentation
#include <heapwright/layers/observe/statistics_heap.hpp>   // counts and sizes
#include <heapwright/layers/observe/tail_canary_heap.hpp>  // a canary at the end of objects
#include <heapwright/layers/observe/trace_heap.hpp>        // a record of every call

// kernel: after the object allocators of Linux
#include <heapwright/layers/kernel/slab_heap.hpp> // SLAB: arrays before slabs
#include <heapwright/layers/kernel/slob_heap.hpp> // SLOB: first fit in shared pages
#include <heapwright/layers/kernel/slqb_heap.hpp> // SLQB: queues with owners
#include <heapwright/layers/kernel/slub_heap.hpp> // SLUB: slabs without metadata

// region: objects freed together, or from the end
#include <heapwright/layers/region/clear_optimized_heap.hpp> // a region until the first free
#include <heapwright/layers/region/emulated_region_heap.hpp> // a list of objects of any heap
#include <heapwright/layers/region/long_lived_heap.hpp>      // packed into one area
#include <heapwright/layers/region/nested_heap.hpp>          // children end with their parent
#include <heapwright/layers/region/obstack_heap.hpp>         // a stack of growing objects
#include <heapwright/layers/region/region_heap.hpp>          // chunks that double in size
#include <heapwright/layers/region/short_lived_heap.hpp>     // a ring of counted arenas
#include <heapwright/layers/region/xalloc_heap.hpp>          // after the last object in use
#include <heapwright/layers/region/zone_heap.hpp>            // chunks of one size

// policies
#include <heapwright/sizeclass/at_least.hpp>           // classes of another policy, raised
#include <heapwright/sizeclass/exact.hpp>              // blocks of 32, 48, 64 ...
#include <heapwright/sizeclass/from_list.hpp>          // blocks from a list
#include <heapwright/sizeclass/geometric.hpp>          // blocks in a fixed ratio
#include <heapwright/sizeclass/geometric_slots.hpp>    // slots in a fixed ratio, without tags
#include <heapwright/sizeclass/large_limit.hpp>        // the size of large objects
#include <heapwright/sizeclass/linear_slots.hpp>       // slots 16 apart, then in steps
#include <heapwright/sizeclass/per_doubling.hpp>       // steps within each doubling, as jemalloc
#include <heapwright/sizeclass/power_of_two.hpp>       // blocks of 2^k bytes
#include <heapwright/sizeclass/up_to.hpp>              // the first classes of another
#include <heapwright/sizeclass/waste.hpp>              // worst-case fragmentation
#include <heapwright/structure/cache/cache_limits.hpp> // limits of a thread cache
#include <heapwright/structure/cache/fast_path.hpp>    // verbs between caches and entry points
#include <heapwright/structure/cache/freelist_encoding.hpp>   // links, plain or encoded
#include <heapwright/structure/extent/purge_policy.hpp>       // when memory is returned
#include <heapwright/structure/extent/system_extents.hpp>     // pages and the clock
#include <heapwright/structure/fit/exact_fit.hpp>             // a list per size, then another fit
#include <heapwright/structure/fit/sequential_fits.hpp>       // first, next and best fit
#include <heapwright/structure/fit/size_tree.hpp>             // best fit in a tree
#include <heapwright/structure/fit/size_tries.hpp>            // best fit in tries
#include <heapwright/structure/fit/unsorted_bins.hpp>         // bins, sorted late
#include <heapwright/structure/map/call_site_table.hpp>       // call sites by return address
#include <heapwright/structure/observe/descriptor_trace.hpp>  // a trace as text, to a file
#include <heapwright/structure/observe/ring_trace.hpp>        // a trace in memory
#include <heapwright/structure/settings/granary_settings.hpp> // granary's settings
#include <heapwright/structure/superblock/emptiness.hpp>      // the emptiness rules
#include <heapwright/structure/thread/arena_policy.hpp>       // chooses the heap for a request
#include <heapwright/structure/thread/heap_selector.hpp>      // the thread's heap
#include <heapwright/structure/thread/processor_selector.hpp> // the thread's processor
#include <heapwright/sync/futex_lock.hpp>                     // one word, sleeps in the kernel
#include <heapwright/sync/shared_futex_lock.hpp>              // the same between processes

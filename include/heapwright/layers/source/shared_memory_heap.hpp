// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory that a process shares with its forked children: `Bytes` bytes, mapped on the first
// request. Untouched pages take no memory.
//
// A bump pointer moves through it. The newest object can grow, and is reused when it is freed; the
// others when no object is live (structure/area/bump.hpp). Each has a tag before it. Requests
// return null when all memory is used. The heap alone shares its objects but not its state, so only
// one side of a fork may allocate. For both sides to allocate, the whole heap must lie in the
// shared memory, with a lock between processes:
//
//   using Shared = LockedHeap<SharedFutexLock, SizeHeap<ChunkHeap<…, SharedMemoryHeap<64 * MiB>>>>;
//   ResidentHeap<Shared> heap;   // adaptor/resident_heap.hpp: then fork, and heap->malloc()
//
// Example: SharedMemoryHeap<64 * MiB>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/structure/object/tag.hpp>
#include <heapwright/structure/shared_region/shared_region.hpp>
#include <heapwright/structure/shared_region/shared_region_memory.hpp>
#include <heapwright/structure/shared_region/shared_region_source.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <std::size_t Bytes>
class SharedMemoryHeap : private SharedRegionSource<SharedMemoryHeap<Bytes>, SharedMemory<Bytes>> {
    static_assert(Bytes >= 4 * KiB && Bytes % minAlignment == 0);

    using Source = SharedRegionSource<SharedMemoryHeap<Bytes>, SharedMemory<Bytes>>;

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    static constexpr Tags writes = Tags::plain;
    /// `resize` usually extends the newest object, with zero bytes.
    static constexpr bool contiguous = true;
    static constexpr std::string_view caption = "gives out memory that forked processes share";
    using Below = Heaps<>;
    using SharedRegionMemory =
        SharedMemory<Bytes>; ///< the memory for a resident heap over this one

    constexpr SharedMemoryHeap() noexcept = default;

    using Source::clear;
    using Source::free;
    using Source::getSize;
    using Source::malloc;
    using Source::measure;
    using Source::memalign;
    using Source::owns;
    using Source::resize;
    using Source::zalloc;
};

static_assert(IndirectHeap<SharedMemoryHeap<4096>> && OwningHeap<SharedMemoryHeap<4096>>);
static_assert(ResizableHeap<SharedMemoryHeap<4096>> && ZeroingHeap<SharedMemoryHeap<4096>>);

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A file as memory: it can be larger than the machine has, and what is in it can be found again by
// who maps it later, at the same address and with a heap of the same type.
//
// `File` says which: a type with `size`, in bytes, and `open()`, which answers a descriptor, and if
// it shall stand somewhere certain, `address`. `ScratchFile<Bytes>` is one that has no name.
//   struct Index {
//       static constexpr std::size_t size = 64 * MiB;
//       static int open() noexcept { return platform::openFile("/var/lib/index/heap"); }
//   };
// A bump pointer moves through it; the object given out last can grow, and goes back when it is
// freed, the others when nothing is live (structure/area/bump.hpp). Each has its tag before it.
// Null when the file is full, or cannot be opened: another process has it, it holds something else,
// or who had it last died (structure/shared_region/shared_region_memory.hpp). By itself the heap
// keeps what it gave out, and goes on behind it; layers above it keep their state in the file if
// the whole heap lies there:
//   using Kept = LockedHeap<SharedFutexLock, SizeHeap<ChunkHeap<…, MappedFileHeap<Index>>>>;
//   ResidentHeap<Kept> heap;   // adaptor/resident_heap.hpp: heap->malloc(), heap.root()
//
// Example: MappedFileHeap<ScratchFile<64 * MiB>>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/structure/object/tag.hpp>
#include <heapwright/structure/shared_region/shared_region.hpp>
#include <heapwright/structure/shared_region/shared_region_memory.hpp>
#include <heapwright/structure/shared_region/shared_region_source.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <MappedFile File>
class MappedFileHeap : private SharedRegionSource<MappedFileHeap<File>, FileMemory<File>> {
    static_assert(File::size >= platform::smallestPage && File::size % platform::smallestPage == 0);

    using Source = SharedRegionSource<MappedFileHeap<File>, FileMemory<File>>;

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    static constexpr Tags writes = Tags::plain;
    /// `resize` can be expected to lengthen the newest object, and does so with zero bytes.
    static constexpr bool contiguous = true;
    static constexpr std::string_view caption = "gives out a file as memory";
    using Below = Heaps<>;
    using SharedRegionMemory = FileMemory<File>; ///< where a heap that stands on this one can live

    constexpr MappedFileHeap() noexcept = default;

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

static_assert(IndirectHeap<MappedFileHeap<ScratchFile<4096>>>);
static_assert(OwningHeap<MappedFileHeap<ScratchFile<4096>>>);

} // namespace heapwright

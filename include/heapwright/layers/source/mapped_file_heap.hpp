// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A file as memory. It can be larger than the machine's memory. A program that maps it later finds
// its contents again, at the same address and with a heap of the same type.
//
// `File` is a type with `size`, in bytes, and `open()`, which returns a descriptor; optionally
// `address`, a fixed address. `ScratchFile<Bytes>` is a file without a name.
//
//   struct Index {
//       static constexpr std::size_t size = 64 * MiB;
//       static int open() noexcept { return platform::openFile("/var/lib/index/heap"); }
//   };
//
// A bump pointer moves through the file. The newest object can grow, and is reused when it is
// freed; the others when no object is live (structure/area/bump.hpp). Each has a tag before it.
// Requests return null when the file is full or cannot be opened. The latter happens when another
// process has it open, it has other contents, or its last user died
// (structure/shared_region/shared_region_memory.hpp). The heap alone keeps its objects in the file
// and continues behind them. Layers above keep their state in the file if the whole heap lies
// there:
//
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
    /// `resize` usually extends the newest object, with zero bytes.
    static constexpr bool contiguous = true;
    static constexpr std::string_view caption = "gives out a file as memory";
    using Below = Heaps<>;
    using SharedRegionMemory = FileMemory<File>; ///< the memory for a resident heap over this one

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

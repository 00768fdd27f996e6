// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Emulated pools: every object, every pool and every memory node is allocated by malloc and freed
// when the pool ends. A program that uses pools thus runs on any general-purpose allocator, for a
// comparison. The objects of a pool are recorded apart from them, in memory that malloc does not
// manage.
#pragma once

#include <apr/node_allocator.hpp>

#include <heapwright/allocators/emulated_region.hpp>

#include <heapwright/layers/source/malloc_heap.hpp>

#include <cstddef>
#include <cstdlib>

namespace heapwright::apr {

struct EmulatedMemory {
    static constexpr bool checks = false; // the malloc below may check

    using Allocator = NodeAllocator<NoShelf>;
    using Heap = allocators::EmulatedRegion<MallocHeap>;

    static void* makePlace(Allocator& /*allocator*/, std::size_t size) noexcept {
        return std::malloc(size);
    }

    static Heap heapFor(Allocator& /*allocator*/, void* /*place*/) noexcept { return Heap(); }

    static void begin(Heap& /*heap*/, void* /*place*/) noexcept {}

    /// There is no fast path without malloc.
    static void* tryMallocFast(Heap& /*heap*/, std::size_t /*size*/) noexcept { return nullptr; }

    static void free(Heap& heap, void* object) noexcept { heap.free(object); }

    static void endPlace(void* place) noexcept { std::free(place); }
};

} // namespace heapwright::apr

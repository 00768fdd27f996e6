// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Pools emulated: every object, every pool and every memory node is one of malloc's and goes back
// to it when the pool ends, so that a program of pools runs on any general-purpose allocator and
// the two can be compared. Which objects a pool has is recorded apart from them, in memory that
// malloc knows nothing of.
#pragma once

#include <apr/node_allocator.hpp>

#include <heapwright/allocators/emulated_region.hpp>

#include <heapwright/layers/source/malloc_heap.hpp>

#include <cstddef>
#include <cstdlib>

namespace heapwright::apr {

struct EmulatedMemory {
    static constexpr bool checks = false; // what malloc is this runs on may

    using Allocator = NodeAllocator<NoShelf>;
    using Heap = allocators::EmulatedRegion<MallocHeap>;

    static void* makePlace(Allocator& /*allocator*/, std::size_t size) noexcept {
        return std::malloc(size);
    }

    static Heap heapFor(Allocator& /*allocator*/, void* /*place*/) noexcept { return Heap(); }

    static void begin(Heap& /*heap*/, void* /*place*/) noexcept {}

    /// Nothing goes without malloc.
    static void* tryMallocFast(Heap& /*heap*/, std::size_t /*size*/) noexcept { return nullptr; }

    static void free(Heap& heap, void* object) noexcept { heap.free(object); }

    static void endPlace(void* place) noexcept { std::free(place); }
};

} // namespace heapwright::apr

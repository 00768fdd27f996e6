// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Pools as reaps: a pool is a region in the memory nodes of its APR allocator until an object of it
// is freed. Freed objects are merged with their neighbours and reused first. The pool itself lies
// in its first node.
//
// Freed blocks wait on exact lists up to 144 bytes and in a tree above. This fits well enough, and
// is small enough to be part of each pool: the bins of the Lea heap take 6 KiB.
#pragma once

#include <apr/node_allocator.hpp>
#include <apr/node_heap.hpp>

#include <heapwright/core/address.hpp>
#include <heapwright/layers/carve/sequential_fit_heap.hpp>
#include <heapwright/layers/object/coalesceable_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/region/clear_optimized_heap.hpp>
#include <heapwright/layers/source/null_heap.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/structure/area/bump_area.hpp>
#include <heapwright/structure/fit/block.hpp>
#include <heapwright/structure/fit/exact_fit.hpp>
#include <heapwright/structure/fit/size_tree.hpp>
#include <heapwright/structure/object/tag.hpp>

#include <cstddef>
#include <cstring>

namespace heapwright::apr {

/// If `checking`, a free searches all nodes of the pool. It detects an object of another pool, or
/// from before the pool was cleared. Freed memory is overwritten.
template <bool checking>
class ReapMemoryOf {
public:
    static constexpr bool checks = checking;

    using Allocator = NodeAllocator<NodeShelf>;
    using Fit = ExactFit<8, SizeTree>;
    using Nothing = CoalesceableHeap<SizeHeap<NullHeap>>;
    using Freed = SequentialFitHeap<Fit, 4 * KiB, Nothing>;
    using Nodes = NodeHeap<Allocator, checking>;
    using Heap = ClearOptimizedHeap<Freed, Nodes>;

    /// The offset of a pool in its first node.
    static constexpr std::size_t headBytes = roundUp(nodeHead, minAlignment);

    static void* makePlace(Allocator& allocator, std::size_t size) noexcept {
        const std::size_t whole = headBytes - nodeHead + size;
        apr_memnode_t* const home = allocator.alloc(whole);
        if (home == nullptr) {
            return nullptr;
        }
        home->first_avail += whole;
        return forward(home, headBytes);
    }

    static Heap heapFor(Allocator& allocator, void* place) noexcept {
        return Heap(allocator, ownerTagOf(place));
    }

    /// Prepares a new or cleared pool.
    static void begin(Heap& heap, void* place) noexcept {
        std::size_t bytes = 0;
        void* const rest = Nodes::restOfHome(ownerTagOf(place), bytes);
        heap.beginIn(rest, bytes);
    }

    /// Allocates from the pointer while the pool is a region; null if there is not enough room.
    [[nodiscard]] static void* tryMallocFast(Heap& heap, std::size_t request) noexcept {
        const std::size_t size = Block::sizeFor(request);
        BumpCursor& cursor = heap.cursor();
        return cursor.hasRoom(size) ? cursor.make(size)->object() : nullptr;
    }

    /// The tag reveals a wrong object.
    static void free(Heap& heap, void* object) noexcept {
        if constexpr (checking) {
            if (!heap.owns(object)) {
                platform::abortWithMessage("apr_pfree", "object of another pool");
            }
        }
        if (addressOf(object) % minAlignment != 0 || !Tag::of(object).is(State::live)) {
            platform::abortWithMessage("apr_pfree", "double free or invalid pointer");
        }
        if constexpr (checking) {
            std::memset(object, Nodes::filler, heap.getSize(object));
        }
        Tag::of(object).makeFree();
        heap.free(object);
    }

    /// The home was freed with the heap.
    static void endPlace(void* /*place*/) noexcept {}

private:
    static apr_memnode_t* ownerTagOf(void* place) noexcept {
        return static_cast<apr_memnode_t*>(backward(place, headBytes));
    }
};

using ReapMemory = ReapMemoryOf<false>;
using CheckedReapMemory = ReapMemoryOf<true>;

} // namespace heapwright::apr

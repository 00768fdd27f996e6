// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Pools as reaps: a pool is a region in the memory nodes of its APR allocator until an object of it
// is freed; that one is merged with its neighbours and given out again first. The pool itself
// stands in its first node.
//
// Freed blocks wait on exact lists up to 144 bytes and in a tree beyond, which is good enough and
// small enough to stand in each pool: the bins of the Lea heap are 6 KiB.
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

/// If `checking`, an object of another pool, or of before its pool was cleared, is told from those
/// that may be freed, and what is freed is overwritten; a free looks at all nodes of the pool then.
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

    /// Where in its first node a pool stands.
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

    /// For a pool that is new, or empty again.
    static void begin(Heap& heap, void* place) noexcept {
        std::size_t bytes = 0;
        void* const rest = Nodes::restOfHome(ownerTagOf(place), bytes);
        heap.beginIn(rest, bytes);
    }

    /// While the pool is a region, from where its pointer is; null where that is not enough.
    [[nodiscard]] static void* tryMallocFast(Heap& heap, std::size_t request) noexcept {
        const std::size_t size = Block::sizeFor(request);
        BumpCursor& cursor = heap.cursor();
        return cursor.hasRoom(size) ? cursor.make(size)->object() : nullptr;
    }

    /// A wrong one is seen by its tag.
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

    /// The home has gone with the heap.
    static void endPlace(void* /*place*/) noexcept {}

private:
    static apr_memnode_t* ownerTagOf(void* place) noexcept {
        return static_cast<apr_memnode_t*>(backward(place, headBytes));
    }
};

using ReapMemory = ReapMemoryOf<false>;
using CheckedReapMemory = ReapMemoryOf<true>;

} // namespace heapwright::apr

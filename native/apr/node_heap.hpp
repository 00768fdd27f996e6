// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The source of a pool's reap: areas in the memory nodes of an APR allocator, where RegionHeap
// would ask malloc for chunks. So a pool is as large as APR's, its memory is recycled as the
// program has set its allocators up, and limits on what they keep hold.
//
// The first node is the pool's home. What is left of it behind the pool is `restOfHome`, where the
// reap begins, and begins again after `clear`; the node goes back with this heap. If `filling`, an
// area is overwritten before it is given out, so that no tag of earlier objects is left in it.
// Invariant: `nodes_` are those beside the home. Cost: one step of the allocator an area, and one
// on `clear` if there was more than the home.
#pragma once

#include <apr_allocator.h>

#include <heapwright/core/address.hpp>
#include <heapwright/core/describe.hpp>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace heapwright::apr {

template <class Allocator, bool filling>
class NodeHeap {
public:
    static constexpr int filler = 0xDB; ///< what no tag ends with
    static constexpr std::size_t alignment = minAlignment;
    static constexpr std::string_view caption = "asks an APR allocator for memory nodes";
    using Below = Heaps<>;

    /// Stands itself in `home`, of which what lies from `first_avail` on is free.
    NodeHeap(Allocator& allocator, apr_memnode_t* home) noexcept
        : allocator_(allocator), home_(home) {}
    NodeHeap(const NodeHeap&) = delete;
    NodeHeap& operator=(const NodeHeap&) = delete;
    ~NodeHeap() {
        clear();
        allocator_.free(home_);
    }

    /// What a pool's home has left for it, and how much that is.
    [[nodiscard]] static void* restOfHome(const apr_memnode_t* home, std::size_t& bytes) noexcept {
        return areaIn(home, bytes);
    }

    [[nodiscard]] void* mallocArea(std::size_t least, std::size_t& granted) noexcept {
        std::size_t request = 0;
        if (__builtin_add_overflow(least, minAlignment, &request)) {
            return nullptr;
        }
        apr_memnode_t* const node = allocator_.alloc(request);
        if (node == nullptr) {
            return nullptr;
        }
        node->next = nodes_;
        nodes_ = node;
        return areaIn(node, granted);
    }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        std::size_t granted = 0;
        return mallocArea(size, granted);
    }

    void free(void* /*object*/) noexcept {}

    void clear() noexcept {
        if (nodes_ != nullptr) {
            allocator_.free(nodes_);
            nodes_ = nullptr;
        }
    }

    [[nodiscard]] bool owns(const void* object) const noexcept {
        const apr_memnode_t* node = nodes_;
        while (node != nullptr && !holds(node, object)) {
            node = node->next;
        }
        return node != nullptr || holds(home_, object);
    }

private:
    static bool holds(const apr_memnode_t* node, const void* object) noexcept {
        return addressOf(object) - addressOf(node) < addressOf(node->endp) - addressOf(node);
    }

    /// All that a node has that is free.
    static void* areaIn(const apr_memnode_t* node, std::size_t& bytes) noexcept {
        const Address first = roundUp(addressOf(node->first_avail), minAlignment);
        bytes = addressOf(node->endp) - first;
        return filling ? std::memset(pointerTo(first), filler, bytes) : pointerTo(first);
    }

    Allocator& allocator_;
    apr_memnode_t* home_;
    apr_memnode_t* nodes_ = nullptr;
};

} // namespace heapwright::apr

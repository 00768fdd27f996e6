// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The source of a pool's reap: areas in the memory nodes of an APR allocator, instead of
// RegionHeap's chunks from malloc. A pool is thus as large as APR's, its memory is recycled
// according to the program's allocators, and their limits apply.
//
// The first node contains the pool itself: it is its home. The rest of it after the pool is
// `restOfHome`, where the reap begins, and begins again after `clear`. The node is freed with this
// heap. If `filling`, an area is overwritten before use, so that no tag of earlier objects remains
// in it.
// Invariant: `nodes_` are all nodes except the home.
// Cost: one call of the allocator for each area, and one on `clear` if there are more nodes than
// the home.
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
    static constexpr int filler = 0xDB; ///< no tag ends with this byte
    static constexpr std::size_t alignment = minAlignment;
    static constexpr std::string_view caption = "asks an APR allocator for memory nodes";
    using Below = Heaps<>;

    /// The heap itself lies in `home`, which is free from `first_avail`.
    NodeHeap(Allocator& allocator, apr_memnode_t* home) noexcept
        : allocator_(allocator), home_(home) {}
    NodeHeap(const NodeHeap&) = delete;
    NodeHeap& operator=(const NodeHeap&) = delete;
    ~NodeHeap() {
        clear();
        allocator_.free(home_);
    }

    /// The rest of a pool's home, and its size in `bytes`.
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

    /// All free bytes of a node.
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

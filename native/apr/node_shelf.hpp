// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The free nodes of an APR allocator. They are on a list for each size in pages, and one list for
// all larger ones. The program may set a limit. `NoShelf` keeps none: each node is returned to
// malloc, for emulated pools.
//
// A request takes from the first list with a node, from its own size upward. As in APR, it prefers
// a larger node to a new one.
// Invariant: the bit of a list with a node is set in `occupied_`. `kept_` is the sum of the pages
// on all lists.
// Cost: a bit scan; in the last list a search for the first fit.
#pragma once

#include <apr_allocator.h>

#include <heapwright/core/address.hpp>
#include <heapwright/platform/pages.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace heapwright::apr {

constexpr std::size_t nodePage = 4 * KiB;
constexpr std::size_t leastNode = 2 * nodePage;
/// The bytes of a node before its usable memory: APR_MEMNODE_T_SIZE.
constexpr std::size_t nodeHead = sizeof(apr_memnode_t);
static_assert(nodeHead % 8 == 0); // APR rounds it up to this multiple

/// The pages of a node: APR's index plus one.
[[nodiscard]] inline std::size_t pagesOf(const apr_memnode_t* node) noexcept {
    return std::size_t{node->index} + 1;
}

class NodeShelf {
public:
    static constexpr bool keeps = true;

    static void* newMemory(std::size_t bytes) noexcept { return platform::mapPages(bytes); }
    static void endMemory(void* memory, std::size_t bytes) noexcept {
        platform::unmapPages(memory, bytes);
    }

    /// A node of at least `pages` pages; null if there is none.
    [[nodiscard]] apr_memnode_t* take(std::size_t pages) noexcept {
        const std::uint32_t fitting = occupied_ & (~std::uint32_t{0} << listOf(pages));
        if (fitting == 0) {
            return nullptr;
        }
        const auto list = static_cast<std::size_t>(__builtin_ctz(fitting));
        apr_memnode_t** link = &lists_[list];
        if (list == last) {
            while (*link != nullptr && pagesOf(*link) < pages) {
                link = &(*link)->next;
            }
        }
        return *link == nullptr ? nullptr : takeAt(link, list);
    }

    /// Keeps the nodes of a list that the limit allows, and returns the others.
    [[nodiscard]] apr_memnode_t* keepWhatFits(apr_memnode_t* nodes) noexcept {
        apr_memnode_t* others = nullptr;
        while (nodes != nullptr) {
            apr_memnode_t* const next = nodes->next;
            apr_memnode_t*& home = fits(nodes) ? add(nodes) : others;
            nodes->next = home;
            home = nodes;
            nodes = next;
        }
        return others;
    }

    /// Removes all nodes and returns them as one list.
    [[nodiscard]] apr_memnode_t* takeAll() noexcept {
        apr_memnode_t* all = nullptr;
        for (apr_memnode_t*& list : lists_) {
            while (list != nullptr) {
                apr_memnode_t* const node = list;
                list = node->next;
                node->next = all;
                all = node;
            }
        }
        occupied_ = 0;
        kept_ = 0;
        return all;
    }

    /// Sets the limit of kept pages; 0: none. Nodes already here stay.
    void setMost(std::size_t pages) noexcept { most_ = pages; }

private:
    static constexpr std::size_t last = 19; ///< the list of all nodes of 21 pages or more

    static constexpr std::size_t listOf(std::size_t pages) noexcept {
        const std::size_t list = pages - leastNode / nodePage;
        return list < last ? list : last;
    }

    [[nodiscard]] bool fits(const apr_memnode_t* node) const noexcept {
        return most_ == APR_ALLOCATOR_MAX_FREE_UNLIMITED || kept_ + pagesOf(node) <= most_;
    }

    apr_memnode_t*& add(const apr_memnode_t* node) noexcept {
        const std::size_t list = listOf(pagesOf(node));
        occupied_ |= std::uint32_t{1} << list;
        kept_ += pagesOf(node);
        return lists_[list];
    }

    apr_memnode_t* takeAt(apr_memnode_t** link, std::size_t list) noexcept {
        apr_memnode_t* const node = *link;
        *link = node->next;
        kept_ -= pagesOf(node);
        if (lists_[list] == nullptr) {
            occupied_ &= ~(std::uint32_t{1} << list);
        }
        return node;
    }

    apr_memnode_t* lists_[last + 1] = {};
    std::size_t kept_ = 0; ///< pages
    std::size_t most_ = APR_ALLOCATOR_MAX_FREE_UNLIMITED;
    std::uint32_t occupied_ = 0;
};

class NoShelf {
public:
    static constexpr bool keeps = false;

    static void* newMemory(std::size_t bytes) noexcept { return std::malloc(bytes); }
    static void endMemory(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }

    static apr_memnode_t* takeAll() noexcept { return nullptr; }
    static void setMost(std::size_t /*pages*/) noexcept {}
};

} // namespace heapwright::apr

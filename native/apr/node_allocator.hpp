// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The type behind `apr_allocator_t`. It allocates memory nodes, whose head is public
// (apr_allocator.h), for pools, bucket allocators and other callers. The size of a node and the
// limit of kept nodes follow APR's documentation. `Shelf` is the source of nodes and keeps the free
// ones.
//
// Nodes have whole pages, at least two.
// Invariant: a freed node belongs either to the shelf or to the system. If the program has set a
// mutex, it is held around the shelf, and by pools around their lists.
// Cost: that of the mutex and the shelf.
#pragma once

#include <apr/node_shelf.hpp>

#include <apr_allocator.h>
#include <apr_thread_mutex.h>

#include <heapwright/core/address.hpp>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace heapwright::apr {

/// Holds the mutex of an allocator, if it has one.
class MutexHolder {
public:
    explicit MutexHolder(apr_thread_mutex_t* mutex) noexcept : mutex_(mutex) {
        if (mutex_ != nullptr) {
            apr_thread_mutex_lock(mutex_);
        }
    }
    MutexHolder(const MutexHolder&) = delete;
    MutexHolder& operator=(const MutexHolder&) = delete;
    ~MutexHolder() {
        if (mutex_ != nullptr) {
            apr_thread_mutex_unlock(mutex_);
        }
    }

private:
    apr_thread_mutex_t* mutex_;
};

template <class Shelf>
class NodeAllocator {
public:
    NodeAllocator(const NodeAllocator&) = delete;
    NodeAllocator& operator=(const NodeAllocator&) = delete;

    /// Creates an allocator of the public type; null if there is no memory.
    template <class Public>
    static Public* make() noexcept {
        void* const place = std::malloc(sizeof(Public));
        return place == nullptr ? nullptr : ::new (place) Public;
    }

    /// Frees the kept nodes and the allocator itself.
    static void end(NodeAllocator& allocator) noexcept {
        allocator.~NodeAllocator();
        std::free(&allocator);
    }

    /// The size of the node for a request, including its head; 0 on overflow.
    [[nodiscard]] static constexpr std::size_t wholeSize(std::size_t request) noexcept {
        std::size_t whole = 0;
        if (__builtin_add_overflow(request, nodeHead + nodePage - 1, &whole)) {
            return 0;
        }
        whole = roundDown(whole, nodePage);
        return whole < leastNode ? leastNode : whole;
    }

    /// A node with room for `request` bytes after its head; null if there is no memory.
    [[nodiscard]] apr_memnode_t* alloc(std::size_t request) noexcept {
        const std::size_t whole = wholeSize(request);
        if (whole == 0 || whole / nodePage - 1 > UINT32_MAX) {
            return nullptr;
        }
        apr_memnode_t* node = fromShelf(whole / nodePage);
        if (node == nullptr) {
            void* const memory = Shelf::newMemory(whole);
            if (memory == nullptr) {
                return nullptr;
            }
            node = ::new (memory) apr_memnode_t{};
            node->index = static_cast<apr_uint32_t>(whole / nodePage - 1);
            node->endp = static_cast<char*>(forward(node, whole));
        }
        node->next = nullptr;
        node->first_avail = static_cast<char*>(forward(node, nodeHead));
        return node;
    }

    /// Frees a list of nodes.
    void free(apr_memnode_t* list) noexcept {
        if constexpr (Shelf::keeps) {
            const MutexHolder holder(mutex_);
            list = shelf_.keepWhatFits(list);
        }
        giveBack(list);
    }

    void setMostKept(std::size_t bytes) noexcept {
        const MutexHolder holder(mutex_);
        shelf_.setMost(bytes / nodePage + (bytes % nodePage != 0 ? 1 : 0));
    }

    void setMutex(apr_thread_mutex_t* mutex) noexcept { mutex_ = mutex; }
    [[nodiscard]] apr_thread_mutex_t* mutex() const noexcept { return mutex_; }
    void setOwner(apr_pool_t* pool) noexcept { owner_ = pool; }
    [[nodiscard]] apr_pool_t* owner() const noexcept { return owner_; }

protected:
    NodeAllocator() noexcept = default;
    ~NodeAllocator() { giveBack(shelf_.takeAll()); }

private:
    apr_memnode_t* fromShelf(std::size_t pages) noexcept {
        if constexpr (Shelf::keeps) {
            const MutexHolder holder(mutex_);
            return shelf_.take(pages);
        } else {
            return nullptr;
        }
    }

    static void giveBack(apr_memnode_t* list) noexcept {
        while (list != nullptr) {
            apr_memnode_t* const next = list->next;
            Shelf::endMemory(list, pagesOf(list) * nodePage);
            list = next;
        }
    }

    apr_thread_mutex_t* mutex_ = nullptr;
    apr_pool_t* owner_ = nullptr; ///< the pool that owns this allocator
    Shelf shelf_;
};

} // namespace heapwright::apr

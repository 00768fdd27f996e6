// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Freed objects wait on a list, last in, first out, for the next request. Any object on the list
// serves any request, so use it where every request has the same size.
// Invariant: the first word of a waiting object is the link. If sizes are known, the rest is
// poisoned for AddressSanitizer.
// Cost: two loads and a store.
// Source: Kingsley's buckets, and the free lists of every allocator since.
//
// Example: FreelistHeap<ChunkHeap<64 * KiB, 0, MmapHeap>>
#pragma once

#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/poison.hpp>
#include <heapwright/structure/forwarding.hpp>

#include <cstddef>
#include <new>
#include <string_view>

namespace heapwright {

template <AnyOrderHeap SuperHeap>
class FreelistHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    struct Node {
        Node* next;
    };

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr bool uniform = true;
    static constexpr bool cacheOnly = MemorylessHeap<SuperHeap>;
    static constexpr bool acceptsForeignObjects = ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption =
        "keeps what is freed on a list for the next request";
    using Below = Heaps<SuperHeap>;

    constexpr FreelistHeap() noexcept = default;
    ~FreelistHeap() { flush(); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        void* const object = mallocHeld(size);
        if (object != nullptr) [[likely]] {
            return object;
        }
        return SuperHeap::malloc(size < sizeof(Node) ? sizeof(Node) : size);
    }

    /// Only an object that waits on the list.
    [[nodiscard]] void* mallocHeld(std::size_t /*size*/) noexcept {
        Node* const node = head_;
        if (node != nullptr) [[likely]] {
            head_ = node->next;
            if constexpr (platform::poisons && SizedHeap<SuperHeap>) {
                platform::unpoison(node, SuperHeap::getSize(node));
            }
        }
        return node;
    }

    void free(void* object) noexcept {
        head_ = ::new (object) Node{head_};
        if constexpr (platform::poisons && SizedHeap<SuperHeap>) {
            platform::poison(head_ + 1, SuperHeap::getSize(object) - sizeof(Node));
        }
    }

    /// Frees all waiting objects to the superheap; true if there were any.
    bool flush() noexcept {
        const bool any = head_ != nullptr;
        while (head_ != nullptr) {
            SuperHeap::free(mallocHeld(0));
        }
        return any;
    }

    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        if constexpr (platform::poisons) {
            flush();
        }
        head_ = nullptr;
        SuperHeap::clear();
    }

    /// Counts the waiting objects, and their bytes if sizes are known.
    void measure(MemoryUsage& usage) noexcept {
        for (Node* node = head_; node != nullptr; node = node->next) {
            ++usage.heldCount;
            if constexpr (SizedHeap<SuperHeap>) {
                usage.held += SuperHeap::getSize(node);
            }
        }
        if constexpr (MeasurableHeap<SuperHeap>) {
            SuperHeap::measure(usage);
        }
    }

    using Forwards::getSize;
    using Forwards::owns;

private:
    Node* head_ = nullptr;
};

} // namespace heapwright

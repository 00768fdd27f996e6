// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Pure private heaps: a thread allocates from its own heap and frees into its own heap, whichever
// heap the object came from.
//
// There are `Count` heaps. Each live thread has one for itself as long as there are enough; further
// threads share, so the heaps must be safe to share. Objects move between heaps, so each heap must
// accept the objects of the others. A heap with records of its memory cannot. Let the private heaps
// be lists that take chunks from one source without a lock: `BumpHeap` over `UniqueHeap`. (If that
// has a lock, a signal handler that interrupted a request must not fork while other threads run.)
// Cost: the thread's slot; threads with heaps of their own never wait for each other.
//
// Blowup: unbounded. If one thread allocates and another frees, all memory ends in the heap of the
// thread that never needs it. `PHOThreadHeap` bounds it.
// Source: the allocators of STL and Cilk are of this kind; the layer is from Heap Layers.
//
// Example: ThreadHeap<8, LockedHeap<FutexLock, MmapHeap>>
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/thread/heap_group.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <std::size_t Count, ConcurrentHeap SuperHeap>
    requires ForeignFreeHeap<SuperHeap>
class ThreadHeap : public HeapGroup<Count, SuperHeap> {
    using HeapGroup<Count, SuperHeap>::heaps_;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr bool concurrent = true;
    static constexpr bool acceptsForeignObjects = true;
    static constexpr std::string_view caption =
        "a heap for each thread, which keeps what the thread frees";
    using Below = Heaps<SuperHeap>;

    constexpr ThreadHeap() noexcept = default;
    ~ThreadHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept { return heaps_.mine().malloc(size); }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        return heaps_.mine().mallocHeld(size);
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return heaps_.mine().zalloc(size);
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return heaps_.mine().memalign(align, size);
    }

    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t size) noexcept
        requires AlignedHoldingHeap<SuperHeap>
    {
        return heaps_.mine().memalignHeld(align, size);
    }

    void free(void* object) noexcept { heaps_.mine().free(object); }

    void free(void* object, std::size_t size) noexcept
        requires SizedFreeHeap<SuperHeap>
    {
        heaps_.mine().free(object, size);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept
        requires SizedHeap<SuperHeap>
    {
        return heaps_.mine().getSize(object);
    }

    [[nodiscard]] std::size_t getSizeUnlocked(void* object) noexcept
        requires UnlockedSizeHeap<SuperHeap>
    {
        return heaps_.mine().getSizeUnlocked(object);
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap>
    {
        return heaps_.mine().resize(object, size);
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        return heaps_.mine().relocate(object, size);
    }
};

} // namespace heapwright

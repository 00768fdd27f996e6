// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Pure private heaps: a thread takes memory from the heap that is its own and gives memory back to
// that same heap, wherever it came from.
//
// There are `Count` heaps, and each live thread has one for itself as long as they last: beyond
// that threads share, so the heaps must be safe to share; and objects wander between them, so the
// heaps must adopt. A heap that keeps a record of its memory does not: let the private heaps be
// lists and take chunks from one source that has no lock, `BumpHeap` over `UniqueHeap`. (With a
// lock in that, a signal handler that interrupted a request must not fork while other threads run.)
// Cost: the thread's place; threads on heaps of their own never wait for each other.
//
// Blowup: unbounded. Where one thread allocates and another frees, all memory ends up in the heap
// of the one that never needs it. (`PHOThreadHeap` is the cure.) So are the allocators of STL and
// Cilk; the layer is from Heap Layers.
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

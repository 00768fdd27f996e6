// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Asks one heap first, and the superheap if that has no memory. Examples: a small buffer before the
// system, a pool of huge pages before ordinary ones, a shared arena before private memory.
//
// A freed object returns to the heap that it came from: the first heap recognises its own by the
// address (`owns`). The layer never moves an object between the heaps; it declines a `resize` that
// the object's heap declines.
// Cost: one range check for each free, and the cost of a failed request in the first heap.
// Source: the FallbackAllocator of D's std.experimental.allocator.
//
// Example: TryHeap<StaticBufferHeap<256 * KiB>, MmapHeap>
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace heapwright {

template <OwningHeap First, Heap SuperHeap>
    requires(First::alignment == SuperHeap::alignment &&
             alignmentOffsetOf<First> == alignmentOffsetOf<SuperHeap>)
class TryHeap : private SuperHeap {
public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<First> && TagPreservingHeap<SuperHeap>;
    static constexpr bool concurrent = ConcurrentHeap<First> && ConcurrentHeap<SuperHeap>;
    static constexpr std::string_view caption = "asks one heap first, the other when it has none";
    using Below = Heaps<First, SuperHeap>;

    constexpr TryHeap() noexcept = default;
    ~TryHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        void* const object = first_.malloc(size);
        return object != nullptr ? object : SuperHeap::malloc(size);
    }

    /// If the first heap cannot zero, its object is filled.
    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        if constexpr (ZeroingHeap<First>) {
            void* const object = first_.zalloc(size);
            return object != nullptr ? object : SuperHeap::zalloc(size);
        } else {
            void* const object = first_.malloc(size);
            return object != nullptr ? std::memset(object, 0, size) : SuperHeap::zalloc(size);
        }
    }

    /// A first heap that cannot align is skipped.
    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        void* object = nullptr;
        if constexpr (AlignedHeap<First>) {
            object = first_.memalign(align, size);
        }
        return object != nullptr ? object : SuperHeap::memalign(align, size);
    }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<First> || HoldingHeap<SuperHeap>
    {
        void* object = nullptr;
        if constexpr (HoldingHeap<First>) {
            object = first_.mallocHeld(size);
        }
        if constexpr (HoldingHeap<SuperHeap>) {
            object = object != nullptr ? object : SuperHeap::mallocHeld(size);
        }
        return object;
    }

    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap> &&
                 (AlignedHoldingHeap<First> || AlignedHoldingHeap<SuperHeap>)
    {
        void* object = nullptr;
        if constexpr (AlignedHoldingHeap<First>) {
            object = first_.memalignHeld(align, size);
        }
        if constexpr (AlignedHoldingHeap<SuperHeap>) {
            object = object != nullptr ? object : SuperHeap::memalignHeld(align, size);
        }
        return object;
    }

    void free(void* object) noexcept {
        if (first_.owns(object)) {
            first_.free(object);
        } else {
            SuperHeap::free(object);
        }
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept
        requires SizedHeap<First> && SizedHeap<SuperHeap>
    {
        return first_.owns(object) ? first_.getSize(object) : SuperHeap::getSize(object);
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<First> || ResizableHeap<SuperHeap>
    {
        if (first_.owns(object)) {
            if constexpr (ResizableHeap<First>) {
                return first_.resize(object, size);
            }
        } else if constexpr (ResizableHeap<SuperHeap>) {
            return SuperHeap::resize(object, size);
        }
        return false;
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<First> || RelocatingHeap<SuperHeap>
    {
        if (first_.owns(object)) {
            if constexpr (RelocatingHeap<First>) {
                return first_.relocate(object, size);
            }
        } else if constexpr (RelocatingHeap<SuperHeap>) {
            return SuperHeap::relocate(object, size);
        }
        return nullptr;
    }

    [[nodiscard]] bool owns(const void* object) noexcept
        requires OwningHeap<SuperHeap>
    {
        return first_.owns(object) || SuperHeap::owns(object);
    }

    void clear() noexcept
        requires ClearableHeap<First> && ClearableHeap<SuperHeap>
    {
        first_.clear();
        SuperHeap::clear();
    }

    bool flush() noexcept
        requires FlushableHeap<First> || FlushableHeap<SuperHeap>
    {
        bool any = false;
        if constexpr (FlushableHeap<First>) {
            any = first_.flush();
        }
        if constexpr (FlushableHeap<SuperHeap>) {
            any = SuperHeap::flush() || any;
        }
        return any;
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<First> || TrimmableHeap<SuperHeap>
    {
        bool any = false;
        if constexpr (TrimmableHeap<First>) {
            any = first_.trim(pad);
        }
        if constexpr (TrimmableHeap<SuperHeap>) {
            any = SuperHeap::trim(pad) || any;
        }
        return any;
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<First> && MeasurableHeap<SuperHeap>
    {
        first_.measure(usage);
        SuperHeap::measure(usage);
    }

    void beforeFork() noexcept
        requires ForkableHeap<First> || ForkableHeap<SuperHeap>
    {
        eachFork([](auto& heap) { heap.beforeFork(); });
    }
    void afterForkInParent() noexcept
        requires ForkableHeap<First> || ForkableHeap<SuperHeap>
    {
        eachFork([](auto& heap) { heap.afterForkInParent(); });
    }
    void afterForkInChild() noexcept
        requires ForkableHeap<First> || ForkableHeap<SuperHeap>
    {
        eachFork([](auto& heap) { heap.afterForkInChild(); });
    }

private:
    template <class Do>
    void eachFork(Do act) noexcept {
        if constexpr (ForkableHeap<First>) {
            act(first_);
        }
        if constexpr (ForkableHeap<SuperHeap>) {
            act(static_cast<SuperHeap&>(*this));
        }
    }

    First first_;
};

} // namespace heapwright

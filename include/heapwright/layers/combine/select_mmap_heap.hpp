// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Large requests go to a heap that maps pages for each, the others to the heap below. The tag of an
// object shows which heap it is from. If mapping fails (the system limits the number of mappings),
// the heap below serves the request. It is as thread-safe as the two heaps, because its own state
// is atomic: the limit and a count.
// Source: one of the two routers of Doug Lea's design.
//
// Example: SelectMmapHeap<FixedLimit<128 * KiB>, MmapHeap, CoalesceHeap<64 * KiB, CoalesceableHeap<MmapHeap>>>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/sizeclass/large_limit.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/object/tag.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace heapwright {

template <LargeLimit Limit, DirectHeap Large, IndirectHeap SuperHeap>
    requires ZeroingHeap<Large> && ResizableHeap<Large> && AlignedHeap<Large>
class SelectMmapHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    /// A fork is passed to the heap below if the other heap has no lock.
    static constexpr bool forkable = ForkableHeap<SuperHeap> && !ForkableHeap<Large>;

public:
    static constexpr std::size_t alignment = std::min(Large::alignment, SuperHeap::alignment);
    static constexpr bool tagged = true;
    static constexpr bool concurrent = ConcurrentHeap<Large> && ConcurrentHeap<SuperHeap>;
    static constexpr bool acceptsForeignObjects =
        ForeignFreeHeap<Large> && ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption =
        "maps large objects one by one, serves the rest below";
    using Below = Heaps<Large, SuperHeap>;

    constexpr SelectMmapHeap() noexcept = default;
    ~SelectMmapHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        if (limit_.isLarge(size)) [[unlikely]] {
            return mallocLarge(*this, size);
        }
        return SuperHeap::malloc(size);
    }

    template <std::invocable<void*> Recycle>
    [[nodiscard]] void* malloc(std::size_t size, Recycle recycle) noexcept
        requires RecyclingHeap<SuperHeap>
    {
        if (limit_.isLarge(size)) [[unlikely]] {
            return mallocLarge(*this, size, recycle);
        }
        return SuperHeap::malloc(size, recycle);
    }

    /// Fresh mappings are zero. Other objects are filled.
    [[nodiscard]] void* zalloc(std::size_t size) noexcept {
        if (limit_.isLarge(size)) [[unlikely]] {
            if (void* const object = counted(large_.zalloc(size))) {
                return object;
            }
        }
        if constexpr (ZeroingHeap<SuperHeap>) {
            return SuperHeap::zalloc(size);
        } else {
            void* const object = SuperHeap::malloc(size);
            return object == nullptr ? nullptr : std::memset(object, 0, size);
        }
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        if (limit_.isLarge(size)) {
            if (void* const object = counted(large_.memalign(align, size))) {
                return object;
            }
        }
        return SuperHeap::memalign(align, size);
    }

    void free(void* object) noexcept {
        if (isDirect(object)) [[unlikely]] {
            freeLarge(*this, object);
        } else {
            SuperHeap::free(object);
        }
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return isDirect(object) ? large_.getSize(object) : SuperHeap::getSize(object);
    }

    [[nodiscard]] std::size_t getSizeUnlocked(void* object) noexcept
        requires UnlockedSizeHeap<SuperHeap>
    {
        return isDirect(object) ? large_.getSize(object) : SuperHeap::getSizeUnlocked(object);
    }

    /// An object without alignment has no tag, so the heap below refuses it.
    void check(void* object, std::string_view routine) noexcept
        requires CheckingHeap<Large> && CheckingHeap<SuperHeap>
    {
        if (addressOf(object) % minAlignment == 0 && isDirect(object)) {
            large_.check(object, routine);
        } else {
            SuperHeap::check(object, routine);
        }
    }

    /// A mapped object that shrinks far below the limit moves to the heap below. An object of the
    /// heap below that grows to the limit moves to a mapping, where further growth moves only its
    /// pages.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        if (isDirect(object)) {
            return limit_.isLarge(size * 2) && large_.resize(object, size);
        }
        if constexpr (ResizableHeap<SuperHeap>) {
            if (limit_.isLarge(size) && size > SuperHeap::getSize(object)) [[unlikely]] {
                return false;
            }
            return SuperHeap::resize(object, size);
        } else {
            return false;
        }
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<Large>
    {
        return isDirect(object) && limit_.isLarge(size) ? large_.relocate(object, size) : nullptr;
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<Large> && MeasurableHeap<SuperHeap>
    {
        MemoryUsage direct;
        large_.measure(direct);
        usage.mapped += direct.mapped;
        usage.direct += direct.mapped;
        usage.directCount += count_.load(std::memory_order_relaxed);
        SuperHeap::measure(usage);
    }

    [[nodiscard]] bool owns(const void* object) noexcept
        requires OwningHeap<Large> && OwningHeap<SuperHeap>
    {
        return large_.owns(object) || SuperHeap::owns(object);
    }

    /// A mapped object is of no thread.
    [[nodiscard]] bool isHome(void* object) noexcept
        requires HomeHeap<SuperHeap>
    {
        return !isDirect(object) && SuperHeap::isHome(object);
    }

    void beforeFork() noexcept
        requires forkable
    {
        SuperHeap::beforeFork();
    }
    void afterForkInParent() noexcept
        requires forkable
    {
        SuperHeap::afterForkInParent();
    }
    void afterForkInChild() noexcept
        requires forkable
    {
        SuperHeap::afterForkInChild();
    }
    [[nodiscard]] bool heldByThisThread() const noexcept
        requires forkable && ReentryDetectingHeap<SuperHeap>
    {
        return SuperHeap::heldByThisThread();
    }

    using Forwards::flush;
    using Forwards::trim;

private:
    static bool isDirect(void* object) noexcept { return Tag::of(object).has(Flag::direct); }

    /// Out of line, as `freeLarge` is, so that the path of other objects needs no stack frame.
    [[gnu::noinline]] static void* mallocLarge(SelectMmapHeap& heap, std::size_t size,
                                               auto... recycle) noexcept {
        if (void* const object = heap.counted(heap.large_.malloc(size))) {
            return object;
        }
        return static_cast<SuperHeap&>(heap).malloc(size, recycle...);
    }

    [[gnu::noinline]] static void freeLarge(SelectMmapHeap& heap, void* object) noexcept {
        heap.limit_.noteFreed(heap.large_.getSize(object));
        heap.count_.fetchSub(1, std::memory_order_relaxed);
        heap.large_.free(object);
    }

    void* counted(void* object) noexcept {
        if (object != nullptr) {
            count_.fetchAdd(1, std::memory_order_relaxed);
        }
        return object;
    }

    [[no_unique_address]] Limit limit_;
    Large large_;
    SharedWord<std::size_t> count_{0}; ///< live objects of `large_`
};

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Strict segregated fits: every request is rounded up to a size class, and each class has a heap of
// its own for freed objects. An object never leaves its class.
//
// `PerClass` only keeps objects (a list over `NullHeap`). A class without one asks the shared
// superheap for an object of the class's size. Requests beyond the largest class go straight to the
// superheap. If the superheap can serve from held memory (`mallocHeld`), all lists are returned to
// it before it fetches memory. Freed objects of one class can thus merge and serve another. Each
// returned object was freed since the last flush, so the cost is constant per free. Requests are
// raised to the least object that `PerClass` can keep.
//
// If the lists have a lock each and threads may share the superheap, they may share this heap. No
// thread holds one lock while it waits for another.
// Cost: a bit scan and the list.
// Source: Kingsley's allocator (4.2BSD); the layer is from Heap Layers.
//
// Example: StrictSegHeap<PowerOfTwo<29>, FreelistHeap<NullHeap>, SizeHeap<ChunkHeap<64 * KiB, 8, MmapHeap>>>
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/sizeclass/at_least.hpp>
#include <heapwright/sizeclass/size_classes.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/list/class_lists.hpp>
#include <heapwright/structure/object/tag.hpp>
#include <heapwright/structure/thread/fork_holds.hpp>

#include <concepts>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace heapwright {

template <SizeClasses Classes, CacheOnlyHeap PerClass, SizedHeap SuperHeap>
    requires AnyOrderHeap<SuperHeap> && KeepsClasses<PerClass, Classes>
class StrictSegHeap
    : private ClassLists<StrictSegHeap<Classes, PerClass, SuperHeap>, PerClass, Classes>,
      private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    using Lists = ClassLists<StrictSegHeap, PerClass, Classes>;
    using Lists::lists_;

    using Raised = RaisedTo<leastObjectOf<PerClass>, Classes>;

    static constexpr bool forkable = ForkableHeap<PerClass> && ForkableHeap<SuperHeap>;
    struct Nothing {};

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr bool uniform = uniformHeap<SuperHeap>; // a list serves one class
    static constexpr bool concurrent = ConcurrentHeap<PerClass> && ConcurrentHeap<SuperHeap>;
    static constexpr bool acceptsForeignObjects =
        ForeignFreeHeap<PerClass> && ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption =
        "rounds up to a size class, which an object never leaves";
    using Below = Heaps<PerClass, SuperHeap>;

    constexpr StrictSegHeap() noexcept = default;
    ~StrictSegHeap() { flush(); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return serve(size, [](void* /*object*/) {});
    }

    /// Runs `recycle` on an object from a list. An object from below has a new tag. So it can be
    /// left to a jump out of line, and the fast path needs no stack frame.
    template <std::invocable<void*> Recycle>
    [[nodiscard]] void* malloc(std::size_t size, Recycle recycle) noexcept
        requires TaggingHeap<SuperHeap>
    {
        return serve(size, recycle);
    }

    /// An object from the list of the class, else one that the superheap holds.
    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept {
        const std::size_t index = Raised::classFor(size);
        if (index < Classes::count) {
            if (void* const object = lists_[index].mallocHeld(Classes::sizeOf(index))) {
                return Lists::woken(object, index);
            }
        }
        if constexpr (HoldingHeap<SuperHeap>) {
            return heldBelow(rounded(size), *this);
        } else {
            return nullptr;
        }
    }

    /// An object from a list is cleared. Fresh memory may be zero already.
    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        const std::size_t index = Raised::classFor(size);
        if (index >= Classes::count) {
            return SuperHeap::zalloc(size);
        }
        void* object = Lists::woken(lists_[index].malloc(Classes::sizeOf(index)), index);
        if constexpr (HoldingHeap<SuperHeap>) {
            if (object == nullptr) {
                object = held(Classes::sizeOf(index), *this);
            }
        }
        return object == nullptr ? SuperHeap::zalloc(Classes::sizeOf(index))
                                 : std::memset(object, 0, size);
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        if constexpr (AlignedHoldingHeap<SuperHeap>) {
            void* object = SuperHeap::memalignHeld(align, rounded(size));
            if (object == nullptr && flush()) {
                object = SuperHeap::memalignHeld(align, rounded(size));
            }
            if (object != nullptr) {
                return object;
            }
        }
        return SuperHeap::memalign(align, rounded(size));
    }

    void free(void* object) noexcept {
        const std::size_t index = Classes::classOf(SuperHeap::getSize(object));
        if (index >= Classes::count || !Lists::keeps(object, index)) [[unlikely]] {
            release(object, *this);
        }
    }

    /// In place if the superheap can. Otherwise only if the new size is of the same class.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        if constexpr (ResizableHeap<SuperHeap>) {
            return SuperHeap::resize(object, rounded(size));
        } else {
            const std::size_t have = SuperHeap::getSize(object);
            if (have > Classes::sizeOf(Classes::count - 1)) {
                return size <= have && size > have / 2;
            }
            return size <= have && Raised::classFor(size) >= Classes::classOf(have);
        }
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        return SuperHeap::relocate(object, rounded(size));
    }

    /// Returns all objects on the lists to the superheap.
    bool flush() noexcept { return Lists::flushLists(static_cast<SuperHeap&>(*this)); }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        flush();
        return SuperHeap::trim(pad);
    }

    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        Lists::clearLists();
        SuperHeap::clear();
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap> && MeasurableHeap<PerClass>
    {
        SuperHeap::measure(usage);
        Lists::measureLists(usage);
    }

    void beforeFork() noexcept
        requires forkable
    {
        holds_.hold(visit());
    }
    void afterForkInParent() noexcept
        requires forkable
    {
        holds_.letGo(visit(), [](auto& heap) { heap.afterForkInParent(); });
    }
    void afterForkInChild() noexcept
        requires forkable
    {
        holds_.letGo(visit(), [](auto& heap) { heap.afterForkInChild(); });
    }

    /// Always false, because `beforeFork` takes only the locks that this thread does not hold yet.
    [[nodiscard]] static bool heldByThisThread() noexcept
        requires forkable
    {
        return false;
    }

    using Forwards::getSize;
    using Forwards::owns;

private:
    /// Enumerates the heaps that a fork holds: each list, and last the superheap.
    auto visit() noexcept {
        return [this](std::size_t index, auto body) {
            if (index < Classes::count) {
                body(lists_[index]);
            } else {
                body(static_cast<SuperHeap&>(*this));
            }
        };
    }

    template <std::invocable<void*> Recycle>
    [[nodiscard]] void* serve(std::size_t size, Recycle recycle) noexcept {
        const std::size_t index = Raised::classFor(size);
        if (index >= Classes::count) [[unlikely]] {
            return fetch(size, *this);
        }
        void* const object = lists_[index].malloc(Classes::sizeOf(index));
        if (object == nullptr) [[unlikely]] {
            return fetch(Classes::sizeOf(index), *this);
        }
        recycle(Lists::woken(object, index));
        return object;
    }

    static constexpr std::size_t rounded(std::size_t size) noexcept {
        const std::size_t index = Raised::classFor(size);
        return index < Classes::count ? Classes::sizeOf(index) : size;
    }

    /// An object that the superheap holds. If it has none, all lists are flushed to merge, and the
    /// search is repeated.
    static void* held(std::size_t size, StrictSegHeap& heap) noexcept {
        SuperHeap& below = heap;
        void* const object = below.mallocHeld(size);
        return object == nullptr && heap.flush() ? below.mallocHeld(size) : object;
    }

    /// Out of line, as `fetch` and `release` are, so that the fast paths need no stack frame.
    /// Static, so that the size stays in its register.
    [[gnu::noinline]] static void* heldBelow(std::size_t size, StrictSegHeap& heap) noexcept {
        return held(size, heap);
    }

    [[gnu::noinline]] static void* fetch(std::size_t size, StrictSegHeap& heap) noexcept {
        if constexpr (HoldingHeap<SuperHeap>) {
            if (void* const object = held(size, heap)) {
                return object;
            }
        }
        return static_cast<SuperHeap&>(heap).malloc(size);
    }

    [[gnu::noinline]] static void release(void* object, SuperHeap& below) noexcept {
        below.free(object);
    }

    [[no_unique_address]] std::conditional_t<forkable, ForkHolds<Classes::count + 1>, Nothing>
        holds_;
};

} // namespace heapwright

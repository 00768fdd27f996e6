// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a free list of any dictionary. Freed objects wait in it, linked through their own memory.
// They serve the next request that they are large enough for.
//
// A dictionary that compares sizes (`BestFitTree`) needs a superheap that knows the sizes, and
// serves any request. A dictionary that does not (`LifoList`, `FifoList`) returns the next object,
// so use it where every request has one size. A request larger than the smallest request so far
// goes below, so that no object is too small. Requests are raised to the size of the links. An
// object that a full dictionary has no room for goes below, or is declined (`tryRetain`).
// Cost: that of the dictionary, and a compare.
// Source: the layer is from Heap Layers.
//
// Example: AdaptHeap<BestFitTree, SizeHeap<ChunkHeap<64 * KiB, 8, MmapHeap>>>
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/list/best_fit_tree.hpp>
#include <heapwright/structure/list/dictionary.hpp>
#include <heapwright/structure/list/fifo_list.hpp>
#include <heapwright/structure/list/lifo_list.hpp>
#include <heapwright/structure/list/size_floor.hpp>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace heapwright {

/// A heap that knows the sizes, if the dictionary compares sizes.
template <class H, class Waiting>
concept SizedFor = SizedHeap<H> || !Waiting::bySize;

template <Dictionary Waiting, AnyOrderHeap SuperHeap>
    requires SizedFor<SuperHeap, Waiting>
class AdaptHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr std::size_t leastObject = Waiting::leastObject;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr bool cacheOnly = MemorylessHeap<SuperHeap>;
    static constexpr bool uniform = cacheOnly || uniformHeap<SuperHeap>;
    /// The requested sizes of another heap's objects are unknown.
    static constexpr bool acceptsForeignObjects =
        (cacheOnly || Waiting::bySize) && ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption =
        "keeps what is freed in a dictionary for the next request";
    using Below = Heaps<SuperHeap>;

    constexpr AdaptHeap() noexcept = default;
    ~AdaptHeap() { handDown(); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        void* const object = waiting(size);
        return object != nullptr ? object : fetched(raised(size));
    }

    /// A waiting object, else one that the superheap holds.
    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept {
        void* const object = waiting(size);
        if constexpr (HoldingHeap<SuperHeap>) {
            return object != nullptr ? object
                                     : noted(SuperHeap::mallocHeld(raised(size)), raised(size));
        } else {
            return object;
        }
    }

    /// A waiting object is cleared.
    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        void* const object = waiting(size);
        return object != nullptr ? std::memset(object, 0, size)
                                 : noted(SuperHeap::zalloc(raised(size)), raised(size));
    }

    /// Waiting objects may have no more than the usual alignment.
    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap> && MaxAlignedHeap<SuperHeap>
    {
        return align <= alignment ? malloc(size)
                                  : noted(SuperHeap::memalign(align, raised(size)), raised(size));
    }

    void free(void* object) noexcept {
        if constexpr (BoundedDictionary<Waiting>) {
            if (!tryRetain(object)) [[unlikely]] {
                SuperHeap::free(object);
            }
        } else {
            insert(object);
        }
    }

    /// `free` if there is room; otherwise false.
    [[nodiscard]] bool tryRetain(void* object) noexcept
        requires BoundedDictionary<Waiting>
    {
        if (waiting_.full()) [[unlikely]] {
            return false;
        }
        insert(object);
        return true;
    }

    /// Removes a waiting object out of turn and gives it to the caller.
    /// Pre: it is waiting.
    void remove(void* object) noexcept { waiting_.remove(object); }

    /// Only if sizes are compared. A list relies on unchanged sizes.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap> && SizedDictionary<Waiting>
    {
        return SuperHeap::resize(object, raised(size));
    }

    /// Frees all waiting objects to the superheap and flushes that; true if there were any.
    bool flush() noexcept {
        const bool any = handDown();
        if constexpr (FlushableHeap<SuperHeap>) {
            return SuperHeap::flush() || any;
        } else {
            return any;
        }
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        handDown();
        return SuperHeap::trim(pad);
    }

    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        waiting_.clear();
        floor_.reset();
        SuperHeap::clear();
    }

    /// Without sizes, each waiting object counts as the smallest request.
    void measure(MemoryUsage& usage) noexcept
        requires cacheOnly || MeasurableHeap<SuperHeap>
    {
        if constexpr (MeasurableHeap<SuperHeap>) {
            SuperHeap::measure(usage);
        }
        usage.heldCount += waiting_.count();
        if constexpr (Waiting::bySize) {
            usage.held += waiting_.bytes();
        } else {
            usage.held += floor_.times(waiting_.count());
        }
    }

    using Forwards::afterForkInChild;
    using Forwards::afterForkInParent;
    using Forwards::beforeFork;
    using Forwards::getSize;
    using Forwards::owns;

private:
    static constexpr std::size_t raised(std::size_t size) noexcept {
        return size < leastObject ? leastObject : size;
    }

    void insert(void* object) noexcept {
        if constexpr (Waiting::bySize) {
            waiting_.insert(object, SuperHeap::getSize(object));
        } else {
            waiting_.insert(object, 0);
        }
    }

    void* waiting(std::size_t size) noexcept {
        return floor_.covers(size) ? waiting_.take(size) : nullptr;
    }

    /// From below. If there is no memory, all waiting objects are freed first, and the superheap is
    /// tried again.
    void* fetched(std::size_t size) noexcept {
        void* const object = noted(SuperHeap::malloc(size), size);
        if constexpr (cacheOnly) {
            return object;
        } else {
            return object == nullptr && handDown() ? noted(SuperHeap::malloc(size), size) : object;
        }
    }

    void* noted(void* object, std::size_t size) noexcept {
        if (object != nullptr) {
            floor_.note(size);
        }
        return object;
    }

    bool handDown() noexcept {
        bool any = false;
        while (void* const object = waiting_.take(0)) {
            SuperHeap::free(object);
            any = true;
        }
        return any;
    }

    Waiting waiting_;
    [[no_unique_address]] SizeFloor<cacheOnly || Waiting::bySize> floor_;
};

} // namespace heapwright

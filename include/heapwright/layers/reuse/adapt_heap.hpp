// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a freelist of any dictionary: what is freed waits in it, linked through its own memory, and
// serves the next request that it is large enough for.
//
// A dictionary that compares sizes (`BestFitTree`) needs a superheap that knows them, and serves
// any request. One that does not (`LifoList`, `FifoList`) gives whatever is next, so it belongs
// where every request is for one size; a request for more than the smallest object was asked for
// with goes below, so that none is ever too small. Requests are raised to what the links take.
// What a full dictionary has no room for goes below, too, or is declined (`tryRetain`).
// Cost: the dictionary's, and a compare. The layer is from Heap Layers.
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

/// A heap that knows the sizes, if the dictionary wants to know them.
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
    /// Of another heap's objects it is not known with what size they were asked for.
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

    /// What waits, else what is held below.
    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept {
        void* const object = waiting(size);
        if constexpr (HoldingHeap<SuperHeap>) {
            return object != nullptr ? object
                                     : noted(SuperHeap::mallocHeld(raised(size)), raised(size));
        } else {
            return object;
        }
    }

    /// What waited is cleared.
    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        void* const object = waiting(size);
        return object != nullptr ? std::memset(object, 0, size)
                                 : noted(SuperHeap::zalloc(raised(size)), raised(size));
    }

    /// What waits may be aligned no better than any object.
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

    /// `free` while there is room; false if there is none.
    [[nodiscard]] bool tryRetain(void* object) noexcept
        requires BoundedDictionary<Waiting>
    {
        if (waiting_.full()) [[unlikely]] {
            return false;
        }
        insert(object);
        return true;
    }

    /// Takes an object that waits out of its turn, into the caller's hands. Pre: it waits.
    void remove(void* object) noexcept { waiting_.remove(object); }

    /// Only where sizes are compared: a list relies on them to stay as they were.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap> && SizedDictionary<Waiting>
    {
        return SuperHeap::resize(object, raised(size));
    }

    /// Hands all that waits to the superheap, and lets it do the same; true if there was any.
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

    /// Without sizes, what waits is as large as the smallest request, at least.
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

    /// From below; if there is no memory, all that waits goes there first and it is asked again.
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

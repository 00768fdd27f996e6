// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What is freed waits on a list, the last in first out, but no more than `Most` objects: the rest
// go below, where they may merge or return to the system. So a burst of frees does not stay with
// the class that it came from. The bound is what the caches of tcmalloc and glibc have per class.
//
// It belongs where every request is for one size; a request for more than the smallest object was
// asked for with goes below, so that none is ever too small. As the list of a size class it
// declines what is beyond the bound (`keep`), so that it goes to the heap which the classes share.
// Cost: two compares and a count beyond the list's. The layer is from Heap Layers.
//
// Example: BoundedFreelistHeap<64, SizeHeap<MmapHeap>>
#pragma once

#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/structure/lifo_list.hpp>
#include <heapwright/structure/size_floor.hpp>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace heapwright {

template <std::size_t Most, AnyOrderHeap SuperHeap>
class BoundedFreelistHeap : private SuperHeap {
public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t phase = phaseOf<SuperHeap>;
    static constexpr std::size_t leastObject = LifoList::leastObject;
    static constexpr bool tagged = requires { requires SuperHeap::tagged; };
    static constexpr bool keeping = requires { requires SuperHeap::memoryless; };
    /// Of another heap's objects it is not known with what size they were asked for.
    static constexpr bool adopting = false;
    static constexpr std::string_view caption =
        "keeps a limited number of freed objects for the next requests";
    using Below = Heaps<SuperHeap>;

    constexpr BoundedFreelistHeap() noexcept = default;
    ~BoundedFreelistHeap() { handDown(); }

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
    [[nodiscard]] void* zalloc(std::size_t size) noexcept requires ZeroingHeap<SuperHeap> {
        void* const object = waiting(size);
        return object != nullptr ? std::memset(object, 0, size)
                                 : noted(SuperHeap::zalloc(raised(size)), raised(size));
    }

    /// What waits may be aligned no better than any object.
    [[nodiscard]] void*
    memalign(std::size_t align,
             std::size_t size) noexcept requires AlignedHeap<SuperHeap> && UnphasedHeap<SuperHeap> {
        return align <= alignment ? malloc(size)
                                  : noted(SuperHeap::memalign(align, raised(size)), raised(size));
    }

    void free(void* object) noexcept {
        if (!keep(object)) [[unlikely]] {
            SuperHeap::free(object);
        }
    }

    /// `free` up to the bound; false beyond it.
    [[nodiscard]] bool keep(void* object) noexcept {
        if (count_ == Most) [[unlikely]] {
            return false;
        }
        list_.insert(object, 0);
        ++count_;
        return true;
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept requires SizedHeap<SuperHeap> {
        return SuperHeap::getSize(object);
    }

    /// Hands the whole list to the superheap and lets it do the same; true if there was any.
    bool flush() noexcept {
        const bool any = handDown();
        if constexpr (FlushableHeap<SuperHeap>) {
            return SuperHeap::flush() || any;
        } else {
            return any;
        }
    }

    bool trim(std::size_t pad) noexcept requires TrimmableHeap<SuperHeap> {
        handDown();
        return SuperHeap::trim(pad);
    }

    void clear() noexcept requires ClearableHeap<SuperHeap> {
        list_.clear();
        count_ = 0;
        floor_.reset();
        SuperHeap::clear();
    }

    /// What waits is as large as the smallest request, at least.
    void measure(Footprint& footprint) noexcept requires keeping || MeasurableHeap<SuperHeap> {
        if constexpr (MeasurableHeap<SuperHeap>) {
            SuperHeap::measure(footprint);
        }
        footprint.heldCount += count_;
        footprint.held += floor_.times(count_);
    }

    [[nodiscard]] bool owns(const void* object) noexcept requires OwningHeap<SuperHeap> {
        return SuperHeap::owns(object);
    }

    void beforeFork() noexcept requires ForkableHeap<SuperHeap> { SuperHeap::beforeFork(); }
    void afterForkInParent() noexcept requires ForkableHeap<SuperHeap> {
        SuperHeap::afterForkInParent();
    }
    void afterForkInChild() noexcept requires ForkableHeap<SuperHeap> {
        SuperHeap::afterForkInChild();
    }

private:
    static constexpr std::size_t raised(std::size_t size) noexcept {
        return size < leastObject ? leastObject : size;
    }

    void* waiting(std::size_t size) noexcept { return floor_.covers(size) ? taken() : nullptr; }

    void* taken() noexcept {
        void* const object = list_.take(0);
        count_ -= object != nullptr ? 1U : 0U;
        return object;
    }

    /// From below; if there is no memory, all that waits goes there first and it is asked again.
    void* fetched(std::size_t size) noexcept {
        void* const object = noted(SuperHeap::malloc(size), size);
        return object == nullptr && handDown() ? noted(SuperHeap::malloc(size), size) : object;
    }

    void* noted(void* object, std::size_t size) noexcept {
        if (object != nullptr) {
            floor_.note(size);
        }
        return object;
    }

    bool handDown() noexcept {
        bool any = false;
        while (void* const object = taken()) {
            SuperHeap::free(object);
            any = true;
        }
        return any;
    }

    static_assert(Most >= 1);

    LifoList list_;
    std::size_t count_ = 0; ///< of objects on the list, never above `Most`
    SizeFloor<false> floor_;
};

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Serves each request with a random one of `Slots` waiting objects, so that an attacker cannot
// predict or arrange neighbours and addresses.
//
// Before a draw it fills its slots from below, as far as there is memory. Fresh objects are thus
// mixed with freed ones, and a program that frees one object and requests another rarely gets the
// same one. `Slots` objects are therefore always held. An object freed while the slots are full
// replaces a random one, which waits on a list until a slot is empty. Use it where every request
// has one size. A request larger than the smallest request so far goes below, so that no object is
// too small.
// Cost: a multiplication and a few shifts for each draw. The random numbers are seeded by the
// system, and again in a forked child. They are fast, not cryptographic.
// Source: the randomised heaps of DieHard (Berger and Zorn 2006) and the free lists of the Linux
// kernel.
//
// Example: RandomFreelistHeap<64, ChunkHeap<64 * KiB, 0, MmapHeap>>
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/list/lifo_list.hpp>
#include <heapwright/structure/list/size_floor.hpp>
#include <heapwright/structure/random_numbers.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright {

template <std::size_t Slots, AnyOrderHeap SuperHeap>
class RandomFreelistHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr std::size_t leastObject = LifoList::leastObject;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr bool cacheOnly = MemorylessHeap<SuperHeap>;
    static constexpr bool uniform = cacheOnly || uniformHeap<SuperHeap>;
    /// The requested sizes of another heap's objects are unknown.
    static constexpr bool acceptsForeignObjects = cacheOnly && ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption =
        "draws at random which of the waiting objects serves";
    using Below = Heaps<SuperHeap>;

    constexpr RandomFreelistHeap() noexcept = default;
    ~RandomFreelistHeap() { handDown(); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        if (!floor_.covers(size)) [[unlikely]] {
            return fetched(raised(size));
        }
        if (!cacheOnly && count_ < Slots) {
            fill(raised(size));
        }
        return drawn();
    }

    /// A waiting object, else one that the superheap holds.
    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept {
        void* const object = floor_.covers(size) ? drawn() : nullptr;
        if constexpr (HoldingHeap<SuperHeap>) {
            return object != nullptr ? object
                                     : noted(SuperHeap::mallocHeld(raised(size)), raised(size));
        } else {
            return object;
        }
    }

    /// Waiting objects may have no more than the usual alignment.
    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap> && MaxAlignedHeap<SuperHeap>
    {
        return align <= alignment ? malloc(size)
                                  : noted(SuperHeap::memalign(align, raised(size)), raised(size));
    }

    void free(void* object) noexcept {
        if (count_ < Slots) {
            slots_[count_++] = object;
        } else {
            void*& slot = slots_[numbers_.below(Slots)];
            list_.insert(slot, 0);
            slot = object;
        }
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
        list_.clear();
        count_ = 0;
        floor_.reset();
        SuperHeap::clear();
    }

    /// Each waiting object counts as the smallest request.
    void measure(MemoryUsage& usage) noexcept
        requires cacheOnly || MeasurableHeap<SuperHeap>
    {
        if constexpr (MeasurableHeap<SuperHeap>) {
            SuperHeap::measure(usage);
        }
        const std::size_t count = count_ + list_.count();
        usage.heldCount += count;
        usage.held += floor_.times(count);
    }

    void beforeFork() noexcept {
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::beforeFork();
        }
    }
    void afterForkInParent() noexcept {
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::afterForkInParent();
        }
    }
    /// Seeds the child anew.
    void afterForkInChild() noexcept {
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::afterForkInChild();
        }
        numbers_.forget();
    }

    using Forwards::getSize;
    using Forwards::owns;

private:
    static constexpr std::size_t raised(std::size_t size) noexcept {
        return size < leastObject ? leastObject : size;
    }

    /// One of the waiting objects; null if there is none.
    void* drawn() noexcept {
        if (count_ == 0) {
            return nullptr;
        }
        void*& slot = slots_[numbers_.below(count_)];
        void* const object = slot;
        void* const next = list_.take(0);
        slot = next != nullptr ? next : slots_[--count_];
        return object;
    }

    /// Fills the empty slots with fresh objects, as far as there is memory.
    [[gnu::noinline]] void fill(std::size_t size) noexcept {
        while (count_ < Slots) {
            void* const object = noted(SuperHeap::malloc(size), size);
            if (object == nullptr) {
                return;
            }
            slots_[count_++] = object;
        }
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
        while (void* const object = drawn()) {
            SuperHeap::free(object);
            any = true;
        }
        return any;
    }

    static_assert(Slots >= 2 && Slots <= UINT32_MAX);

    void* slots_[Slots] = {};
    std::size_t count_ = 0; ///< number of used slots, which are the first ones
    LifoList list_;         ///< empty unless all slots are used
    RandomNumbers numbers_;
    [[no_unique_address]] SizeFloor<cacheOnly> floor_;
};

} // namespace heapwright

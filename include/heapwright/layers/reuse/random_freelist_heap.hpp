// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Which object serves a request is drawn at random from `Slots` waiting ones, so that nobody can
// tell, or arrange, which objects will be neighbours and where the next one will be.
//
// Before it draws it fills its slots from below, as far as there is memory: fresh objects are mixed
// like freed ones, and a program that frees one object and asks for another does not get the same
// back. The price is that `Slots` objects are always held. An object that is freed while the slots
// are full takes a slot at random, and what was there waits on a list to move up again.
// It belongs where every request is for one size; a request for more than the smallest object was
// asked for with goes below, so that none is ever too small.
// Cost: a multiplication and a few shifts a draw. The numbers are seeded from the system and anew
// in a forked child; they are quick, not a cipher. From the randomised heaps of DieHard (Berger and
// Zorn 2006) and the freelists of the Linux kernel.
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
    /// Of another heap's objects it is not known with what size they were asked for.
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

    /// What waits, else what is held below.
    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept {
        void* const object = floor_.covers(size) ? drawn() : nullptr;
        if constexpr (HoldingHeap<SuperHeap>) {
            return object != nullptr ? object
                                     : noted(SuperHeap::mallocHeld(raised(size)), raised(size));
        } else {
            return object;
        }
    }

    /// What waits may be aligned no better than any object.
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

    /// Hands all that waits to the superheap and lets it do the same; true if there was any.
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

    /// What waits is as large as the smallest request, at least.
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
    /// The child draws other numbers than its parent.
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

    /// Fresh objects into the empty slots, as many as there is memory for.
    [[gnu::noinline]] void fill(std::size_t size) noexcept {
        while (count_ < Slots) {
            void* const object = noted(SuperHeap::malloc(size), size);
            if (object == nullptr) {
                return;
            }
            slots_[count_++] = object;
        }
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
        while (void* const object = drawn()) {
            SuperHeap::free(object);
            any = true;
        }
        return any;
    }

    static_assert(Slots >= 2 && Slots <= UINT32_MAX);

    void* slots_[Slots] = {};
    std::size_t count_ = 0; ///< of slots that have an object, the first ones
    LifoList list_;         ///< empty unless all slots have one
    RandomNumbers numbers_;
    [[no_unique_address]] SizeFloor<cacheOnly> floor_;
};

} // namespace heapwright

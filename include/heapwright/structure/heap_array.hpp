// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Several heaps of one kind side by side, and which of them is the calling thread's: the n-th
// thread has heap n modulo their number. Each stands on cache lines of its own, so that threads on
// different heaps do not slow each other down.
//
// Over a fork all of them are held, always in the same order. A thread that holds one already (in a
// signal handler that interrupted a request) passes that one over and leaves it as it is on both
// sides. That works for one such handler at a time, and unless the interrupted request holds a lock
// further down for which others wait inside their heaps. Cost: the thread's number and a remainder.
#pragma once

#include <heapwright/core/concepts.hpp>
#include <heapwright/platform/thread.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace heapwright {

template <std::size_t Count, Heap H>
class HeapArray {
    static constexpr std::size_t cacheLine = 64;
    static_assert(Count >= 1 && Count <= 65536);

    struct alignas(cacheLine) Slot {
        H heap;
        std::uint32_t heldSince = 0; ///< the fork that holds it, counted from 1; 0: none
    };

public:
    static constexpr std::size_t count = Count;

    /// The heap of the calling thread, and its place.
    [[nodiscard]] static std::size_t myIndex() noexcept { return platform::threadNumber() % Count; }
    [[nodiscard]] H& mine() noexcept { return slots_[myIndex()].heap; }

    [[nodiscard]] H& operator[](std::size_t index) noexcept { return slots_[index].heap; }

    bool flush() noexcept requires FlushableHeap<H> {
        bool any = false;
        for (Slot& slot : slots_) {
            any = slot.heap.flush() || any;
        }
        return any;
    }

    /// Each keeps its share of `pad`.
    bool trim(std::size_t pad) noexcept requires TrimmableHeap<H> {
        bool any = false;
        for (Slot& slot : slots_) {
            any = slot.heap.trim(pad / Count) || any;
        }
        return any;
    }

    void clear() noexcept requires ClearableHeap<H> {
        for (Slot& slot : slots_) {
            slot.heap.clear();
        }
    }

    void measure(Footprint& footprint) noexcept requires MeasurableHeap<H> {
        for (Slot& slot : slots_) {
            slot.heap.measure(footprint);
        }
    }

    [[nodiscard]] bool owns(const void* object) noexcept requires OwningHeap<H> {
        for (Slot& slot : slots_) {
            if (slot.heap.owns(object)) {
                return true;
            }
        }
        return false;
    }

    void beforeFork() noexcept requires ForkableHeap<H> {
        const bool first = hold(slots_[0]);
        ++forks_; // whose turn it is to write this is who holds the first heap
        slots_[0].heldSince = first ? forks_ : slots_[0].heldSince;
        for (std::size_t i = 1; i < Count; ++i) {
            if (hold(slots_[i])) {
                slots_[i].heldSince = forks_;
            }
        }
    }

    void afterForkInParent() noexcept requires ForkableHeap<H> {
        letGo([](H& heap) { heap.afterForkInParent(); });
    }

    void afterForkInChild() noexcept requires ForkableHeap<H> {
        letGo([](H& heap) { heap.afterForkInChild(); });
    }

private:
    /// Holds a heap still unless this thread does so already; whether it had to.
    static bool hold(Slot& slot) noexcept {
        if constexpr (requires { slot.heap.heldByThisThread(); }) {
            if (!platform::singleThreaded() && slot.heap.heldByThisThread()) {
                return false;
            }
        }
        slot.heap.beforeFork();
        return true;
    }

    /// Lets go what this fork holds, the first heap last.
    template <class LetGo>
    void letGo(LetGo letGoOne) noexcept {
        const std::uint32_t fork = forks_;
        for (std::size_t i = Count; i-- > 0;) {
            forks_ -= i == 0 ? 1U : 0U;
            if (slots_[i].heldSince == fork) {
                slots_[i].heldSince = 0;
                letGoOne(slots_[i].heap);
            }
        }
    }

    std::array<Slot, Count> slots_;
    std::uint32_t forks_ = 0; ///< how many forks of one thread are under way, one inside the other
};

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Several heaps of one type in an array, and the calling thread's heap among them
// (structure/thread/arena_policy.hpp). Each has cache lines of its own, so that threads on
// different heaps do not disturb each other. A fork holds all of them
// (structure/thread/fork_holds.hpp).
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/structure/thread/arena_policy.hpp>
#include <heapwright/structure/thread/fork_holds.hpp>

#include <array>
#include <cstddef>

namespace heapwright {

template <std::size_t Count, Heap H>
class HeapArray {
    static constexpr std::size_t cacheLine = 64;
    static_assert(Count >= 1 && Count <= 65536);

    struct alignas(cacheLine) Slot {
        H heap;
    };

public:
    using Each = H;
    static constexpr std::size_t count = Count;

    /// The heap of the calling thread, and its place.
    [[nodiscard]] static std::size_t myIndex() noexcept { return ByThread<Count>::mine(); }
    [[nodiscard]] H& mine() noexcept { return slots_[myIndex()].heap; }

    [[nodiscard]] H& operator[](std::size_t index) noexcept { return slots_[index].heap; }

    /// The place of the heap that contains an address; `Count` or more if none does.
    [[nodiscard]] std::size_t placeOf(const void* part) const noexcept {
        return (addressOf(part) - addressOf(&slots_)) / sizeof(Slot);
    }

    bool flush() noexcept
        requires FlushableHeap<H>
    {
        bool any = false;
        for (Slot& slot : slots_) {
            any = slot.heap.flush() || any;
        }
        return any;
    }

    /// Each heap keeps its share of `pad`.
    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<H>
    {
        bool any = false;
        for (Slot& slot : slots_) {
            any = slot.heap.trim(pad / Count) || any;
        }
        return any;
    }

    void clear() noexcept
        requires ClearableHeap<H>
    {
        for (Slot& slot : slots_) {
            slot.heap.clear();
        }
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<H>
    {
        for (Slot& slot : slots_) {
            slot.heap.measure(usage);
        }
    }

    [[nodiscard]] bool owns(const void* object) noexcept
        requires OwningHeap<H>
    {
        for (Slot& slot : slots_) {
            if (slot.heap.owns(object)) {
                return true;
            }
        }
        return false;
    }

    void beforeFork() noexcept
        requires ForkableHeap<H>
    {
        holds_.hold(visit());
    }

    void afterForkInParent() noexcept
        requires ForkableHeap<H>
    {
        holds_.letGo(visit(), [](H& heap) { heap.afterForkInParent(); });
    }

    void afterForkInChild() noexcept
        requires ForkableHeap<H>
    {
        holds_.letGo(visit(), [](H& heap) { heap.afterForkInChild(); });
    }

private:
    auto visit() noexcept {
        return [this](std::size_t index, auto body) { body(slots_[index].heap); };
    }

    std::array<Slot, Count> slots_;
    ForkHolds<Count> holds_;
};

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The common part of layers with several heaps: the verbs that affect all of them. Such a layer
// inherits publicly from it and adds the verbs that affect one.
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/structure/thread/heap_array.hpp>
#include <heapwright/sync/thread_slot.hpp>

#include <cstddef>

namespace heapwright {

template <std::size_t Count, Heap SuperHeap>
class HeapGroup {
public:
    constexpr HeapGroup() noexcept = default;
    HeapGroup(const HeapGroup&) = delete;
    HeapGroup& operator=(const HeapGroup&) = delete;
    ~HeapGroup() = default;

    [[nodiscard]] bool owns(const void* object) noexcept
        requires OwningHeap<SuperHeap>
    {
        return heaps_.owns(object);
    }

    bool flush() noexcept
        requires FlushableHeap<SuperHeap>
    {
        return heaps_.flush();
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        return heaps_.trim(pad);
    }

    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        heaps_.clear();
    }

    /// The sum over all heaps.
    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        heaps_.measure(usage);
    }

    void beforeFork() noexcept
        requires ForkableHeap<SuperHeap>
    {
        heaps_.beforeFork();
    }
    void afterForkInParent() noexcept
        requires ForkableHeap<SuperHeap>
    {
        heaps_.afterForkInParent();
    }
    void afterForkInChild() noexcept
        requires ForkableHeap<SuperHeap>
    {
        heaps_.afterForkInChild();
        keepOnlyMySlot(); // threads have their heaps by slot
    }

    /// Always false, because `beforeFork` takes only the locks that this thread does not hold yet.
    [[nodiscard]] static bool heldByThisThread() noexcept
        requires ReentryDetectingHeap<SuperHeap>
    {
        return false;
    }

protected:
    HeapArray<Count, SuperHeap> heaps_;
};

} // namespace heapwright

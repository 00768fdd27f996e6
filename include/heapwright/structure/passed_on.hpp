// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The verbs that a layer without memory of its own hands down as they are: what is given back in
// bulk, what is told, and what a fork needs. A layer derives from this in place of its superheap,
// and names each verb that it passes on (`using Passed::trim;`), so that it still says so of each.
//
// Invariant: a verb is there exactly if the superheap has it. Cost: none.
//
// Example: class MyHeap : private PassedOn<SuperHeap>
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/heap_snapshot.hpp>
#include <heapwright/core/introspection.hpp>

#include <cstddef>
#include <cstdint>

namespace heapwright {

template <class SuperHeap>
class PassedOn : protected SuperHeap {
public:
    constexpr PassedOn() noexcept = default;
    PassedOn(const PassedOn&) = delete;
    PassedOn& operator=(const PassedOn&) = delete;
    ~PassedOn() = default;

    bool flush() noexcept
        requires FlushableHeap<SuperHeap>
    {
        return SuperHeap::flush();
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        return SuperHeap::trim(pad);
    }

    std::uint32_t purgeExpired() noexcept
        requires PurgeableHeap<SuperHeap>
    {
        return SuperHeap::purgeExpired();
    }

    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        SuperHeap::clear();
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        SuperHeap::measure(usage);
    }

    void inspect(HeapSnapshot& snapshot) noexcept
        requires InspectableHeap<SuperHeap>
    {
        SuperHeap::inspect(snapshot);
    }

    void walk(const ObjectVisitor& visit) noexcept
        requires WalkableHeap<SuperHeap>
    {
        SuperHeap::walk(visit);
    }

    [[nodiscard]] bool owns(const void* object) noexcept
        requires OwningHeap<SuperHeap>
    {
        return SuperHeap::owns(object);
    }

    void beforeFork() noexcept
        requires ForkableHeap<SuperHeap>
    {
        SuperHeap::beforeFork();
    }
    void afterForkInParent() noexcept
        requires ForkableHeap<SuperHeap>
    {
        SuperHeap::afterForkInParent();
    }
    void afterForkInChild() noexcept
        requires ForkableHeap<SuperHeap>
    {
        SuperHeap::afterForkInChild();
    }
    [[nodiscard]] bool heldByThisThread() const noexcept
        requires ReentryDetectingHeap<SuperHeap>
    {
        return SuperHeap::heldByThisThread();
    }
};

} // namespace heapwright

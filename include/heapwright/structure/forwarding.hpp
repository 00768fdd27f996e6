// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Passes verbs on to the heap below, unchanged. A layer derives from this in place of its superheap
// and names each verb that it passes on (`using Forwards::trim;`), so forwarding stays deliberate.
// A verb that a layer does not name does not exist above the layer.
//
// `malloc(size)` and `free(object)` are not here: a layer writes them itself, because they are what
// it is for. A template verb (`attempt`, `forEachRun`) is not here either.
//
// Invariant: a verb exists exactly if the superheap has it.
// Cost: none, each call is inlined.
//
// Example: class MyHeap : private Forwarding<SuperHeap>
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/heap_snapshot.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright {

template <class SuperHeap>
class Forwarding : protected SuperHeap {
public:
    constexpr Forwarding() noexcept = default;
    Forwarding(const Forwarding&) = delete;
    Forwarding& operator=(const Forwarding&) = delete;
    ~Forwarding() = default;

    // --- core/concepts.hpp ---

    [[nodiscard, gnu::always_inline]] std::size_t getSize(void* object) noexcept
        requires SizedHeap<SuperHeap>
    {
        return SuperHeap::getSize(object);
    }

    [[nodiscard, gnu::always_inline]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return SuperHeap::memalign(align, size);
    }

    [[nodiscard, gnu::always_inline]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap>
    {
        return SuperHeap::resize(object, size);
    }

    [[gnu::always_inline]] void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        SuperHeap::clear();
    }

    // --- core/requests.hpp ---

    [[nodiscard, gnu::always_inline]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return SuperHeap::zalloc(size);
    }

    [[nodiscard, gnu::always_inline]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        return SuperHeap::relocate(object, size);
    }

    [[nodiscard, gnu::always_inline]] void* mallocAt(std::size_t size, std::size_t align,
                                                     std::size_t phase) noexcept
        requires PhaseAlignedHeap<SuperHeap>
    {
        return SuperHeap::mallocAt(size, align, phase);
    }

    [[gnu::always_inline]] void free(void* object, std::size_t size) noexcept
        requires SizedFreeHeap<SuperHeap>
    {
        SuperHeap::free(object, size);
    }

    [[nodiscard, gnu::always_inline]] void* tryMallocFrom(std::size_t size,
                                                          const void* caller) noexcept
        requires SitePredictingHeap<SuperHeap>
    {
        return SuperHeap::tryMallocFrom(size, caller);
    }

    void resolveSites() noexcept
        requires SitePredictingHeap<SuperHeap>
    {
        SuperHeap::resolveSites();
    }

    // --- core/bulk.hpp ---

    [[nodiscard, gnu::always_inline]] ObjectLink* mallocBatch(std::size_t size,
                                                              std::size_t count) noexcept
        requires BatchingHeap<SuperHeap>
    {
        return SuperHeap::mallocBatch(size, count);
    }

    [[gnu::always_inline]] void freeBatch(ObjectLink* chain) noexcept
        requires BatchingHeap<SuperHeap>
    {
        SuperHeap::freeBatch(chain);
    }

    [[nodiscard, gnu::always_inline]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        return SuperHeap::mallocHeld(size);
    }

    [[nodiscard, gnu::always_inline]] void* memalignHeld(std::size_t align,
                                                         std::size_t size) noexcept
        requires AlignedHoldingHeap<SuperHeap>
    {
        return SuperHeap::memalignHeld(align, size);
    }

    [[nodiscard, gnu::always_inline]] bool tryRetain(void* object) noexcept
        requires RetainingHeap<SuperHeap>
    {
        return SuperHeap::tryRetain(object);
    }

    [[nodiscard, gnu::always_inline]] void* mallocArea(std::size_t least,
                                                       std::size_t& granted) noexcept
        requires AreaHeap<SuperHeap>
    {
        return SuperHeap::mallocArea(least, granted);
    }

    [[gnu::always_inline]] bool flush() noexcept
        requires FlushableHeap<SuperHeap>
    {
        return SuperHeap::flush();
    }

    [[gnu::always_inline]] bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        return SuperHeap::trim(pad);
    }

    [[gnu::always_inline]] std::uint32_t purgeExpired() noexcept
        requires PurgeableHeap<SuperHeap>
    {
        return SuperHeap::purgeExpired();
    }

    // --- core/introspection.hpp ---

    [[gnu::always_inline]] void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        SuperHeap::measure(usage);
    }

    [[gnu::always_inline]] void inspect(HeapSnapshot& snapshot) noexcept
        requires InspectableHeap<SuperHeap>
    {
        SuperHeap::inspect(snapshot);
    }

    [[gnu::always_inline]] void walk(const ObjectVisitor& visit) noexcept
        requires WalkableHeap<SuperHeap>
    {
        SuperHeap::walk(visit);
    }

    [[nodiscard, gnu::always_inline]] bool owns(const void* object) noexcept
        requires OwningHeap<SuperHeap>
    {
        return SuperHeap::owns(object);
    }

    [[nodiscard, gnu::always_inline]] bool isHome(void* object) noexcept
        requires HomeHeap<SuperHeap>
    {
        return SuperHeap::isHome(object);
    }

    [[nodiscard, gnu::always_inline]] bool mark(const void* object) noexcept
        requires MarkingHeap<SuperHeap>
    {
        return SuperHeap::mark(object);
    }

    [[gnu::always_inline]] void unmark() noexcept
        requires MarkingHeap<SuperHeap>
    {
        SuperHeap::unmark();
    }

    [[gnu::always_inline]] void check(void* object, std::string_view routine) noexcept
        requires CheckingHeap<SuperHeap>
    {
        SuperHeap::check(object, routine);
    }

    [[gnu::always_inline]] void checkRequest(void* object, std::size_t size, std::size_t align,
                                             std::string_view routine) noexcept
        requires RequestCheckingHeap<SuperHeap>
    {
        SuperHeap::checkRequest(object, size, align, routine);
    }

    bool describe(int descriptor, const void* address) noexcept
        requires DescribingHeap<SuperHeap>
    {
        return SuperHeap::describe(descriptor, address);
    }

    [[nodiscard, gnu::always_inline]] std::size_t getSizeUnlocked(void* object) noexcept
        requires UnlockedSizeHeap<SuperHeap>
    {
        return SuperHeap::getSizeUnlocked(object);
    }

    // --- core/fork_and_signals.hpp ---

    [[gnu::always_inline]] void beforeFork() noexcept
        requires ForkableHeap<SuperHeap>
    {
        SuperHeap::beforeFork();
    }

    [[gnu::always_inline]] void afterForkInParent() noexcept
        requires ForkableHeap<SuperHeap>
    {
        SuperHeap::afterForkInParent();
    }

    [[gnu::always_inline]] void afterForkInChild() noexcept
        requires ForkableHeap<SuperHeap>
    {
        SuperHeap::afterForkInChild();
    }

    [[nodiscard, gnu::always_inline]] bool heldByThisThread() const noexcept
        requires ReentryDetectingHeap<SuperHeap>
    {
        return SuperHeap::heldByThisThread();
    }
};

} // namespace heapwright

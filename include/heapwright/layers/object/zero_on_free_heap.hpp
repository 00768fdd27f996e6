// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Fills freed objects with zero bytes before the heap below gets them: what a program has had in an
// object, keys or passwords, is in nobody's next object and in no core file for longer than the
// program itself keeps it.
//
// All that may be used of an object is filled, be it more than was asked for. An object that
// shrinks stays where it is, and what it loses is filled, while it stays above half of what it has;
// else it moves and is freed. Who moves an object by its pages leaves no copy behind.
// The layer has no state: it is as concurrent as the heap below. Cost: one pass over each object
// when it is freed, and the memory that shrinking objects keep.
//
// Example: ZeroOnFreeHeap<MallocHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/passed_on.hpp>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace heapwright {

template <SizedHeap SuperHeap>
class ZeroOnFreeHeap : private PassedOn<SuperHeap> {
    using Passed = PassedOn<SuperHeap>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr bool acceptsForeignObjects = ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption = "fills freed objects with zero bytes";
    using Below = Heaps<SuperHeap>;

    constexpr ZeroOnFreeHeap() noexcept = default;
    ~ZeroOnFreeHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept { return SuperHeap::malloc(size); }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return SuperHeap::zalloc(size);
    }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        return SuperHeap::mallocHeld(size);
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return SuperHeap::memalign(align, size);
    }

    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t size) noexcept
        requires AlignedHoldingHeap<SuperHeap>
    {
        return SuperHeap::memalignHeld(align, size);
    }

    void free(void* object) noexcept {
        zero(object, SuperHeap::getSize(object));
        SuperHeap::free(object);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept { return SuperHeap::getSize(object); }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        const std::size_t have = SuperHeap::getSize(object);
        if (size <= have) {
            const bool stays = size > have / 2;
            if (stays) {
                zero(forward(object, size), have - size);
            }
            return stays;
        }
        if constexpr (ResizableHeap<SuperHeap>) {
            return SuperHeap::resize(object, size);
        } else {
            return false;
        }
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        return SuperHeap::relocate(object, size);
    }

    void check(void* object, std::string_view routine) noexcept
        requires CheckingHeap<SuperHeap>
    {
        SuperHeap::check(object, routine);
    }

    using Passed::afterForkInChild;
    using Passed::afterForkInParent;
    using Passed::beforeFork;
    using Passed::clear; // what is live then is not filled
    using Passed::flush;
    using Passed::heldByThisThread;
    using Passed::inspect;
    using Passed::measure;
    using Passed::owns;
    using Passed::purgeExpired;
    using Passed::trim;
    using Passed::walk;

private:
    /// Not a `memset`, which a compiler may leave out before a `free` that it knows.
    static void zero(void* bytes, std::size_t count) noexcept { ::explicit_bzero(bytes, count); }
};

} // namespace heapwright

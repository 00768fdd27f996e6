// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Fills each object of up to `Limit` bytes with zero bytes before a program gets it. A program thus
// never reads what an earlier object contained, and a pointer that it reads before it writes it is
// null. `ZeroOnFreeHeap` does the same work when an object is freed.
//
// Larger objects are not filled here. Put the layer over a heap that returns them as zero bytes,
// for example because it closes freed pages (`GuardGapHeap`). The layer has no state, so it is as
// concurrent as the heap below.
// Cost: one pass over each object of up to `Limit` bytes.
//
// Example: ZeroOnMallocHeap<16 * KiB, MallocHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/cache/fast_path.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/object/short_fill.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <std::size_t Limit, Heap SuperHeap>
class ZeroOnMallocHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr bool acceptsForeignObjects = ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption = "fills small objects with zero bytes";
    using Below = Heaps<SuperHeap>;

    constexpr ZeroOnMallocHeap() noexcept = default;
    ~ZeroOnMallocHeap() = default;

    [[nodiscard, gnu::always_inline]] void* malloc(std::size_t size) noexcept {
        return zeroed(SuperHeap::malloc(size), size);
    }

    /// Serves only sizes whose fill needs no call.
    [[nodiscard, gnu::always_inline]] void* mallocAtOnce(std::size_t size) noexcept
        requires AtOnceHeap<SuperHeap> && (ShortFill::longest <= Limit)
    {
        void* const object = size <= ShortFill::longest ? SuperHeap::mallocAtOnce(size) : nullptr;
        if (object != nullptr) {
            ShortFill::fillShort(object, 0, size);
        }
        return object;
    }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        return zeroed(SuperHeap::mallocHeld(size), size);
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return zeroed(SuperHeap::memalign(align, size), size);
    }

    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t size) noexcept
        requires AlignedHoldingHeap<SuperHeap>
    {
        return zeroed(SuperHeap::memalignHeld(align, size), size);
    }

    [[gnu::always_inline]] void free(void* object) noexcept { SuperHeap::free(object); }

    using Forwards::afterForkInChild;
    using Forwards::afterForkInParent;
    using Forwards::beforeFork;
    using Forwards::check;
    using Forwards::checkRequest;
    using Forwards::clear;
    using Forwards::flush;
    using Forwards::getSize;
    using Forwards::heldByThisThread;
    using Forwards::inspect;
    using Forwards::measure;
    using Forwards::owns;
    using Forwards::purgeExpired;
    using Forwards::relocate;
    using Forwards::resize;
    using Forwards::trim;
    using Forwards::walk;
    using Forwards::zalloc;

private:
    [[nodiscard, gnu::always_inline]] static void* zeroed(void* object, std::size_t size) noexcept {
        if (object != nullptr && size <= Limit) [[likely]] {
            ShortFill::fill(object, 0, size);
        }
        return object;
    }
};

} // namespace heapwright

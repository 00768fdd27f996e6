// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A request of `Threshold` bytes or more first makes the heap below flush the objects that it keeps
// for reuse. They then merge (deferred coalescing). Programs often request large objects when a
// phase begins, and then the small objects of the previous phase are no longer of use.
// Cost: one compare.
// Source: one of the two routers of Doug Lea's design.
//
// Example: ThresholdHeap<512, StrictSegHeap<Exact<4>, FreelistHeap<NullHeap>, CoalesceHeap<64 * KiB, CoalesceableHeap<MmapHeap>>>>
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/forwarding.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>

namespace heapwright {

template <std::size_t Threshold, FlushableHeap SuperHeap>
    requires SizedHeap<SuperHeap>
class ThresholdHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr std::string_view caption =
        "on a large request lets what waits for reuse merge first";
    using Below = Heaps<SuperHeap>;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return size >= Threshold ? mallocMerging(*this, size) : SuperHeap::malloc(size);
    }

    template <std::invocable<void*> Recycle>
    [[nodiscard]] void* malloc(std::size_t size, Recycle recycle) noexcept
        requires RecyclingHeap<SuperHeap>
    {
        return size >= Threshold ? mallocMerging(*this, size, recycle)
                                 : SuperHeap::malloc(size, recycle);
    }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        consider(size);
        return SuperHeap::mallocHeld(size);
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        consider(size);
        return SuperHeap::zalloc(size);
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        consider(size);
        return SuperHeap::memalign(align, size);
    }

    void free(void* object) noexcept { SuperHeap::free(object); }

    using Forwards::clear;
    using Forwards::flush;
    using Forwards::getSize;
    using Forwards::measure;
    using Forwards::owns;
    using Forwards::relocate;
    using Forwards::resize;
    using Forwards::trim;

private:
    /// Out of line, so that the path of small requests needs no stack frame.
    [[gnu::noinline]] static void* mallocMerging(SuperHeap& below, std::size_t size,
                                                 auto... recycle) noexcept {
        below.flush();
        return below.malloc(size, recycle...);
    }

    void consider(std::size_t size) noexcept {
        if (size >= Threshold) [[unlikely]] {
            SuperHeap::flush();
        }
    }
};

} // namespace heapwright

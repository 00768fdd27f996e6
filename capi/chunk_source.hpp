// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the regions and reaps of C programs take their chunks: malloc, with a count for each of
// them of how much it has. Cost: that of malloc.
#pragma once

#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright::capi {

class ChunkSource : private MallocHeap {
public:
    static constexpr std::size_t alignment = MallocHeap::alignment;
    static constexpr std::string_view caption = "asks malloc, counts what it has";
    using Below = Heaps<MallocHeap>;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        void* const chunk = MallocHeap::malloc(size);
        taken_ += chunk == nullptr ? 0 : MallocHeap::getSize(chunk);
        return chunk;
    }

    void free(void* chunk) noexcept {
        taken_ -= MallocHeap::getSize(chunk);
        MallocHeap::free(chunk);
    }

    void measure(Footprint& footprint) const noexcept { footprint.mapped += taken_; }

private:
    std::size_t taken_ = 0;
};

static_assert(MeasurableHeap<ChunkSource> && UnphasedHeap<ChunkSource>);

/// How much a heap over it has.
template <MeasurableHeap H>
[[nodiscard]] std::size_t memoryOf(H& heap) noexcept {
    Footprint footprint;
    heap.measure(footprint);
    return footprint.mapped;
}

} // namespace heapwright::capi

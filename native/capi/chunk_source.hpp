// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The source of chunks for the regions and reaps of C programs, with a count of bytes for each of
// them.
#pragma once

#include <heapwright/allocators/spare_chunks.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright::capi {

class ChunkSource {
    using Chunks = allocators::SpareChunks;

public:
    static constexpr std::size_t alignment = Chunks::alignment;
    static constexpr std::string_view caption = "counts what it has";
    using Below = Heaps<Chunks>;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        void* const chunk = chunks_.malloc(size);
        taken_ += chunk == nullptr ? 0 : chunks_.getSize(chunk);
        return chunk;
    }

    void free(void* chunk) noexcept {
        taken_ -= chunks_.getSize(chunk);
        chunks_.free(chunk);
    }

    void measure(MemoryUsage& usage) const noexcept { usage.mapped += taken_; }

private:
    [[no_unique_address]] Chunks chunks_; ///< shared by all
    std::size_t taken_ = 0;
};

static_assert(MeasurableHeap<ChunkSource> && MaxAlignedHeap<ChunkSource>);

/// The bytes that a heap over it has taken.
template <MeasurableHeap H>
[[nodiscard]] std::size_t memoryOf(H& heap) noexcept {
    MemoryUsage usage;
    heap.measure(usage);
    return usage.mapped;
}

} // namespace heapwright::capi

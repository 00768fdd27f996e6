// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Splits large blocks and merges free neighbours at once, and serves each request with about the
// best fit, from bins by size. It grows by the request and `Growth` bytes more.
//
// Invariants and the ways of splitting and merging: structure/fit/merging_blocks.hpp. Cost:
// constant. From Doug Lea's allocator.
// Example: CoalesceHeap<64 * KiB, CoalesceableHeap<MmapHeap>>
#pragma once

#include <heapwright/core/describe.hpp>
#include <heapwright/structure/fit/block.hpp>
#include <heapwright/structure/fit/fit_bins.hpp>
#include <heapwright/structure/fit/merging_blocks.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <std::size_t Growth, SpanHeap SuperHeap>
class CoalesceHeap : public MergingBlocks<FitBins, Growth, SuperHeap> {
public:
    static constexpr std::string_view caption =
        "splits and merges blocks, serves about the best fit";
    using Below = Heaps<SuperHeap>;

    constexpr CoalesceHeap() noexcept = default;
    ~CoalesceHeap() = default;
};

} // namespace heapwright

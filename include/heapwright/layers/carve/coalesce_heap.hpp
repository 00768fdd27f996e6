// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Splits large blocks, merges free neighbours at once, and serves each request by approximate best
// fit from bins by size. It grows by the request plus `Growth` bytes.
//
// Invariants: structure/fit/merging_blocks.hpp, which also describes splitting and merging.
// Cost: constant.
// Source: Doug Lea's allocator.
//
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

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Splits large blocks and merges free neighbours at once, with one list of free blocks. The policy
// chooses the block that serves a request: `FirstFit`, `NextFit`, `BestFit`, or any other fit. It
// grows by the request plus `Growth` bytes.
//
// The block at the end of memory is not on the list and not part of a search. It serves only
// requests that no other block can serve.
// Invariants: structure/fit/merging_blocks.hpp.
// Cost: that of the fit. A list is linear in its length.
// Source: the classical heap, as in the survey by Wilson and others ("Dynamic Storage Allocation",
// 1995).
//
// Example: SequentialFitHeap<FirstFit, 64 * KiB, CoalesceableHeap<MmapHeap>>
#pragma once

#include <heapwright/core/describe.hpp>
#include <heapwright/structure/fit/block.hpp>
#include <heapwright/structure/fit/fit_policy.hpp>
#include <heapwright/structure/fit/merging_blocks.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <FitPolicy Fit, std::size_t Growth, SpanHeap SuperHeap>
class SequentialFitHeap : public MergingBlocks<Fit, Growth, SuperHeap> {
public:
    static constexpr std::string_view caption =
        "splits and merges blocks, serves the one that the fit finds";
    using Below = Heaps<SuperHeap>;

    constexpr SequentialFitHeap() noexcept = default;
    ~SequentialFitHeap() = default;
};

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Splits large blocks and merges free neighbours at once, with one list of free blocks; which of
// them serves a request says the policy: `FirstFit`, `NextFit`, `BestFit`, or any other fit. It
// grows by the request and `Growth` bytes more.
//
// Not on the list, and not part of any search, is the block at the end of memory: whatever the fit,
// it serves only what no other can. Invariants: structure/fit/merging_blocks.hpp. Cost: the fit's;
// a list is linear in its length. The classical heap, as Wilson and others survey it ("Dynamic
// Storage Allocation", 1995).
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

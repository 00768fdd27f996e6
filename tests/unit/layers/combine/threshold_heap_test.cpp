// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/coalesce_heap.hpp>
#include <heapwright/layers/combine/strict_seg_heap.hpp>
#include <heapwright/layers/combine/threshold_heap.hpp>
#include <heapwright/layers/object/coalesceable_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/null_heap.hpp>
#include <heapwright/sizeclass/exact.hpp>
#include <heapwright/sizeclass/power_of_two.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

using Lists = StrictSegHeap<PowerOfTwo<4>, FreelistHeap<NullHeap>, SizeHeap<CountingHeapAt<8>>>;

TEST(ThresholdHeap, FlushesOnALargeRequestOnly) {
    Ledger::begin();
    ThresholdHeap<512, Lists> heap;
    heap.free(heap.malloc(24));
    EXPECT_EQ(Ledger::the().live.size(), 1U) << "it waits";
    void* const below = heap.malloc(511);
    EXPECT_EQ(Ledger::the().live.size(), 2U);
    void* const large = heap.malloc(512);
    EXPECT_EQ(Ledger::the().live.size(), 2U) << "what waited went down";
    heap.free(below);
    heap.free(large);
}

using Blocks = CoalesceHeap<4 * KiB, CoalesceableHeap<CountingHeap>>;
using Exactly = StrictSegHeap<Exact<4>, FreelistHeap<NullHeap>, Blocks>;

TEST(ThresholdHeap, RecyclesReusedObjectsOnly) {
    Ledger::begin();
    ThresholdHeap<512, Exactly> heap;
    static_assert(RecyclingHeap<ThresholdHeap<512, Exactly>>);
    int recycled = 0;
    const auto count = [&](void* /*object*/) { ++recycled; };
    heap.free(heap.malloc(24, count));
    EXPECT_EQ(recycled, 0) << "it was new";
    heap.free(heap.malloc(24, count));
    EXPECT_EQ(recycled, 1) << "it was on a list";
    void* const large = heap.malloc(512, count);
    heap.free(heap.malloc(24, count));
    EXPECT_EQ(recycled, 1) << "the large request merged what was on the list";
    heap.free(large);
}

} // namespace
} // namespace heapwright::testing

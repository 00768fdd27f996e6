// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/combine/strict_seg_heap.hpp>
#include <heapwright/layers/combine/threshold_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/null_heap.hpp>
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

} // namespace
} // namespace heapwright::testing

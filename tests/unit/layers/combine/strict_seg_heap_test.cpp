// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/coalesce_heap.hpp>
#include <heapwright/layers/combine/strict_seg_heap.hpp>
#include <heapwright/layers/object/coalesceable_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/null_heap.hpp>
#include <heapwright/sizeclass/power_of_two.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heapwright::testing {
namespace {

using Nothing = FreelistHeap<NullHeap>;
using Plain = StrictSegHeap<PowerOfTwo<8>, Nothing, SizeHeap<CountingHeapAt<8>>>;
using Merging =
    StrictSegHeap<PowerOfTwo<12>, Nothing, CoalesceHeap<4 * KiB, CoalesceableHeap<CountingHeap>>>;

TEST(StrictSegHeap, RoundsUpToTheClassAndReuses) {
    Ledger::begin();
    Plain heap;
    void* const object = heap.malloc(100);
    EXPECT_EQ(heap.getSize(object), 120U);
    heap.free(object);
    EXPECT_EQ(heap.malloc(70), object) << "of the same class";
    EXPECT_NE(heap.malloc(50), object) << "of another";
    EXPECT_EQ(Ledger::the().requests, 2U);
}

TEST(StrictSegHeap, PassesLargerObjects) {
    Ledger::begin();
    Plain heap;
    void* const object = heap.malloc(10'000);
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    heap.free(object);
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(StrictSegHeap, ResizesWithinAClass) {
    Ledger::begin();
    Plain heap;
    void* const object = heap.malloc(100);
    EXPECT_TRUE(heap.resize(object, 120));
    EXPECT_TRUE(heap.resize(object, 60));
    EXPECT_FALSE(heap.resize(object, 121));
    EXPECT_FALSE(heap.resize(object, 50));
    heap.free(object);
}

TEST(StrictSegHeap, RunsItsFunctionOnRecycledObjectsOnly) {
    Ledger::begin();
    Plain heap;
    int recycled = 0;
    const auto count = [&](void*) { ++recycled; };
    void* const object = heap.malloc(100, count);
    EXPECT_EQ(recycled, 0);
    heap.free(object);
    EXPECT_EQ(heap.malloc(100, count), object);
    EXPECT_EQ(recycled, 1);
    heap.free(object);
}

TEST(StrictSegHeap, MergesWaitingObjectsBeforeItGrows) {
    Ledger::begin();
    Merging heap;
    std::vector<void*> small;
    for (int i = 0; i < 300; ++i) {
        small.push_back(heap.malloc(24));
    }
    const std::size_t before = Ledger::the().requests;
    for (void* const object : small) {
        heap.free(object);
    }
    void* const large = heap.malloc(4000); // of the memory of the small ones
    EXPECT_NE(large, nullptr);
    EXPECT_EQ(Ledger::the().requests, before);
    heap.free(large);
}

TEST(StrictSegHeap, ServesAlignedRequestsFromWaitingObjects) {
    Ledger::begin();
    Merging heap;
    for (int i = 0; i < 10'000; ++i) {
        void* const object = heap.memalign(64, 100);
        ASSERT_EQ(addressOf(object) % 64, 0U);
        heap.free(object);
    }
    EXPECT_LT(Ledger::the().requests, 10U);
}

TEST(StrictSegHeap, TrimReturnsAllMemory) {
    Ledger::begin();
    Merging heap;
    heap.free(heap.malloc(24));
    heap.flush();
    EXPECT_FALSE(heap.flush()) << "the lists are empty";
    EXPECT_FALSE(heap.trim(0)) << "this source takes only whole spans";
}

} // namespace
} // namespace heapwright::testing

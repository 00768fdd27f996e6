// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/combine/strict_seg_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/observe/profile_heap.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/source/null_heap.hpp>
#include <heapwright/sizeclass/power_of_two.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heapwright::testing {
namespace {

class ProfileHeapTest : public ::testing::Test {
protected:
    void SetUp() override { Ledger::begin(); }
};

TEST_F(ProfileHeapTest, IsOneWhereNothingIsLost) {
    ProfileHeap<CountingHeap> heap;
    EXPECT_EQ(heap.fragmentation().ratio(), 0.0);
    void* const one = heap.malloc(1000);
    void* const two = heap.malloc(500);
    heap.free(one);
    EXPECT_EQ(heap.fragmentation().inUse, 500U);
    EXPECT_EQ(heap.fragmentation().taken, 500U);
    EXPECT_EQ(heap.fragmentation().mostInUse, 1500U);
    EXPECT_EQ(heap.fragmentation().mostTaken, 1500U);
    EXPECT_EQ(heap.fragmentation().ratio(), 1.0);
    heap.free(two);
}

TEST_F(ProfileHeapTest, MeasuresTheLossOfClassesThatNeverMerge) {
    using Lists =
        StrictSegHeap<PowerOfTwo<12>, FreelistHeap<NullHeap>, SizeHeap<CountingHeapAt<8>>>;
    ProfileHeap<Lists> heap;
    std::vector<void*> objects;
    for (const std::size_t size : {100U, 1000U, 2000U}) { // one size after the other
        for (int i = 0; i < 50; ++i) {
            objects.push_back(heap.malloc(size));
        }
        for (void* const object : objects) {
            heap.free(object);
        }
        objects.clear();
    }
    EXPECT_EQ(heap.fragmentation().inUse, 0U);
    EXPECT_EQ(heap.fragmentation().mostInUse, 50U * 2000U);
    EXPECT_EQ(heap.fragmentation().mostTaken, 50U * (128U + 1024U + 2048U))
        << "each class keeps its blocks";
}

TEST_F(ProfileHeapTest, CountsRequestedSizes) {
    ProfileHeap<MmapHeap> heap;
    void* const object = heap.malloc(100);
    EXPECT_EQ(heap.fragmentation().inUse, 100U);
    ASSERT_TRUE(heap.resize(object, 300));
    EXPECT_EQ(heap.fragmentation().inUse, 300U);
    void* const moved = heap.relocate(object, 10000);
    ASSERT_NE(moved, nullptr);
    EXPECT_EQ(heap.fragmentation().inUse, 10000U);
    EXPECT_EQ(heap.fragmentation().mostTaken, 12 * KiB);
    EXPECT_EQ(heap.relocate(moved, ~std::size_t{0}), nullptr);
    EXPECT_EQ(heap.fragmentation().inUse, 10000U);
    heap.free(moved);
    EXPECT_EQ(heap.fragmentation().inUse, 0U);
    EXPECT_EQ(heap.fragmentation().taken, 0U);
}

TEST_F(ProfileHeapTest, MissesAtMostA64thOfTheCalls) {
    ProfileHeap<CountingHeap> heap;
    void* const kept = heap.malloc(64 * KiB);
    for (int i = 0; i < 1000; ++i) { // all the while a little more than what is kept is taken
        heap.free(heap.malloc(100));
    }
    const Fragmentation& figures = heap.fragmentation();
    EXPECT_EQ(figures.mostInUse, 64 * KiB + 100);
    EXPECT_GE(figures.mostTaken * 64, figures.mostInUse * 63);
    EXPECT_LE(figures.mostTaken, figures.mostInUse);
    heap.free(kept);
}

TEST_F(ProfileHeapTest, ClearUsesNothingAnyMore) {
    ProfileHeap<ChunkHeap<4 * KiB, 0, CountingHeap>> heap;
    static_cast<void>(heap.malloc(100));
    heap.clear();
    EXPECT_EQ(heap.fragmentation().inUse, 0U);
    EXPECT_EQ(heap.fragmentation().taken, 0U);
    EXPECT_EQ(heap.fragmentation().mostInUse, 100U);
    EXPECT_GT(heap.fragmentation().mostTaken, 4000U);
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST_F(ProfileHeapTest, DoesNotCountAFailedAllocation) {
    ProfileHeap<CountingHeap> heap;
    Ledger::begin(1);
    EXPECT_EQ(heap.malloc(100), nullptr);
    EXPECT_EQ(heap.malloc(~std::size_t{0}), nullptr);
    EXPECT_EQ(heap.fragmentation().mostInUse, 0U);
}

} // namespace
} // namespace heapwright::testing

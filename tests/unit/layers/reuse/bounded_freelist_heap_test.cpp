// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/combine/strict_seg_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/reuse/bounded_freelist_heap.hpp>
#include <heapwright/layers/source/null_heap.hpp>
#include <heapwright/sizeclass/power_of_two.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heapwright::testing {
namespace {

TEST(BoundedFreelistHeap, KeepsNoMoreThanItsBound) {
    Ledger::begin();
    BoundedFreelistHeap<3, CountingHeap> heap;
    std::vector<void*> objects(10);
    for (void*& object : objects) {
        object = heap.malloc(32);
    }
    for (void* const object : objects) {
        heap.free(object);
    }
    EXPECT_EQ(Ledger::the().live.size(), 3U) << "the others went below";
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.heldCount, 3U);
    EXPECT_EQ(usage.held, 96U);
    EXPECT_EQ(heap.malloc(31), objects[2]) << "the last that was kept, for no more than it has";
    EXPECT_EQ(heap.malloc(32), objects[1]);
    EXPECT_EQ(heap.malloc(32), objects[0]);
    EXPECT_EQ(heap.mallocHeld(32), nullptr);
    EXPECT_EQ(Ledger::the().requests, 10U);
    for (std::size_t i = 0; i < 3; ++i) {
        heap.free(objects[i]);
    }
    EXPECT_EQ(Ledger::the().live.size(), 3U) << "there is room again";
    EXPECT_TRUE(heap.flush());
    EXPECT_FALSE(heap.flush());
    EXPECT_TRUE(Ledger::the().live.empty());
    heap.free(heap.malloc(32));
    EXPECT_EQ(Ledger::the().live.size(), 1U) << "and after a flush";
}

TEST(BoundedFreelistHeap, ClearDropsWaitingObjects) {
    Ledger::begin();
    BoundedFreelistHeap<2, ChunkHeap<4 * KiB, 0, CountingHeap>> heap;
    heap.free(heap.malloc(32));
    heap.clear();
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(heap.mallocHeld(32), nullptr);
    void* const one = heap.malloc(64);
    void* const two = heap.malloc(64);
    heap.free(one);
    heap.free(two);
    EXPECT_EQ(heap.malloc(64), two) << "the bound counts from zero again";
    EXPECT_EQ(heap.malloc(64), one);
}

TEST(BoundedFreelistHeap, DeclinesObjectsBeyondItsBound) {
    alignas(16) unsigned char memory[2][32]; // outlives the heap, whose end reads its list
    BoundedFreelistHeap<1, NullHeap> heap;
    EXPECT_TRUE(heap.tryRetain(memory[0]));
    EXPECT_FALSE(heap.tryRetain(memory[1]));
    EXPECT_EQ(heap.malloc(32), memory[0]);
    EXPECT_EQ(heap.malloc(32), nullptr);
    EXPECT_TRUE(heap.tryRetain(memory[1]));
}

TEST(BoundedFreelistHeap, BoundsTheListOfEachClass) {
    Ledger::begin();
    StrictSegHeap<PowerOfTwo<8>, BoundedFreelistHeap<2, NullHeap>, SizeHeap<CountingHeapAt<8>>>
        heap;
    std::vector<void*> objects;
    for (int i = 0; i < 5; ++i) {
        objects.push_back(heap.malloc(20));
        objects.push_back(heap.malloc(100));
    }
    for (void* const object : objects) {
        heap.free(object);
    }
    EXPECT_EQ(Ledger::the().live.size(), 4U) << "two of each class; the others went below";
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.heldCount, 4U);
    EXPECT_EQ(usage.held, 2U * 24 + 2U * 120);
    EXPECT_TRUE(heap.flush());
    EXPECT_TRUE(Ledger::the().live.empty());
}

} // namespace
} // namespace heapwright::testing

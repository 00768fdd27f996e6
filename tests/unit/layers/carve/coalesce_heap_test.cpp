// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/coalesce_heap.hpp>
#include <heapwright/layers/object/coalesceable_heap.hpp>
#include <heapwright/layers/source/sbrk_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace heapwright::testing {
namespace {

using Blocks = CoalesceHeap<4 * KiB, CoalesceableHeap<CountingHeap>>;
using RunBlocks = CoalesceHeap<4 * KiB, CoalesceableHeap<ContiguousCountingHeap>>;

template <class H>
std::size_t heldBy(H& heap) {
    MemoryUsage usage;
    heap.measure(usage);
    return usage.held;
}

TEST(CoalesceHeap, SplitsAndMergesWithBothNeighbours) {
    Ledger::begin();
    Blocks heap;
    void* const first = heap.malloc(1000);
    void* const second = heap.malloc(1000);
    void* const third = heap.malloc(1000);
    void* const last = heap.malloc(1000);
    EXPECT_EQ(addressOf(second), addressOf(first) + 1008);
    heap.free(first);
    heap.free(third);
    EXPECT_EQ(heap.mallocHeld(2500), nullptr);
    heap.free(second); // the three are one now
    EXPECT_EQ(heap.mallocHeld(3000), first);
    heap.free(last);
}

TEST(CoalesceHeap, ServesTheBestFitRatherThanTheTop) {
    Ledger::begin();
    Blocks heap;
    void* const large = heap.malloc(900);
    void* const wall = heap.malloc(16);
    void* const small = heap.malloc(200);
    void* const wall2 = heap.malloc(16);
    heap.free(large);
    heap.free(small);
    EXPECT_EQ(heap.malloc(190), small);
    EXPECT_EQ(heap.malloc(600), large);
    heap.free(wall);
    heap.free(wall2);
}

TEST(CoalesceHeap, ResizesIntoAFreeNeighbourAndReturnsTheEnd) {
    Ledger::begin();
    Blocks heap;
    auto* const object = static_cast<unsigned char*>(heap.malloc(100));
    void* const neighbour = heap.malloc(1000);
    void* const wall = heap.malloc(16);
    object[99] = 5;
    EXPECT_FALSE(heap.resize(object, 500));
    heap.free(neighbour);
    EXPECT_TRUE(heap.resize(object, 500));
    EXPECT_EQ(object[99], 5);
    EXPECT_LT(heap.getSize(object), 600U);
    EXPECT_TRUE(heap.resize(object, 40));
    EXPECT_EQ(heap.getSize(object), 40U);
    EXPECT_NE(heap.mallocHeld(1000), nullptr) << "the rest is whole again";
    heap.free(wall);
}

TEST(CoalesceHeap, LeavesNothingUnusedBesideAnAlignedObject) {
    Ledger::begin();
    RunBlocks heap;
    void* const first = heap.malloc(16);
    const std::size_t before = heldBy(heap);
    void* const aligned = heap.memalign(1024, 100);
    EXPECT_EQ(addressOf(aligned) % 1024, 0U);
    EXPECT_LT(heap.getSize(aligned), 130U);
    heap.free(aligned);
    EXPECT_GE(heldBy(heap), before);
    heap.free(first);
}

TEST(CoalesceHeap, GrowsAContiguousSpanInPlace) {
    Ledger::begin();
    RunBlocks heap;
    void* const object = heap.malloc(3000);
    for (int i = 0; i < 100; ++i) {
        ASSERT_NE(heap.malloc(3000), nullptr);
    }
    EXPECT_EQ(Ledger::the().live.size(), 1U) << "one run";
    heap.free(object);
    EXPECT_EQ(heap.mallocHeld(3000), object);
}

TEST(CoalesceHeap, CutsTheTopWhenItIsFree) {
    Ledger::begin();
    RunBlocks heap;
    void* objects[100];
    for (void*& object : objects) {
        object = heap.malloc(3000);
    }
    for (void* const object : objects) {
        heap.free(object);
    }
    EXPECT_LE(heldBy(heap), 3 * 4 * KiB) << "300 KB were free";
    EXPECT_TRUE(heap.trim(0));
    EXPECT_LE(heldBy(heap), 64U);
    EXPECT_FALSE(heap.trim(0)) << "there is nothing more to give";
}

TEST(CoalesceHeap, KeepsRoomForTheLargestThatWasFreed) {
    Ledger::begin();
    RunBlocks heap;
    std::size_t before = 0;
    for (int round = 0; round < 20; ++round) {
        before = Ledger::the().requests;
        heap.free(heap.malloc(100'000));
    }
    EXPECT_EQ(Ledger::the().requests, before) << "it is not given back for ever";
}

TEST(CoalesceHeap, ClearsUsedMemoryAndLeavesFreshMemory) {
    CoalesceHeap<4 * KiB, CoalesceableHeap<SbrkHeap>> heap;
    for (const std::size_t size : {std::size_t{3000}, std::size_t{30'000}, std::size_t{100'000}}) {
        for (int round = 0; round < 4; ++round) {
            auto* const bytes = static_cast<unsigned char*>(heap.zalloc(size));
            ASSERT_NE(bytes, nullptr);
            for (std::size_t i = 0; i < size; ++i) {
                ASSERT_EQ(bytes[i], 0) << size << " bytes, at " << i;
            }
            std::memset(bytes, 0xFF, heap.getSize(bytes));
            if (round % 2 == 0) {
                heap.free(bytes);
                heap.trim(0); // so that the next comes from below again
            }
        }
    }
}

TEST(CoalesceHeap, DoesNotTouchZeroMemory) {
    Ledger::begin();
    CoalesceHeap<4 * KiB, CoalesceableHeap<ZeroingCountingHeap>> heap;
    auto* const fresh = static_cast<unsigned char*>(heap.zalloc(1000));
    std::memset(fresh, 0xFF, 1000);
    heap.free(fresh);
    auto* const again = static_cast<unsigned char*>(heap.zalloc(1000));
    EXPECT_EQ(again, fresh);
    for (std::size_t i = 0; i < 1000; ++i) {
        ASSERT_EQ(again[i], 0);
    }
    heap.free(again);
}

TEST(CoalesceHeap, ReturnsSpansThatAreFreeAsAWhole) {
    Ledger::begin();
    Blocks heap;
    void* objects[20];
    for (void*& object : objects) {
        object = heap.malloc(20'000);
    }
    EXPECT_EQ(Ledger::the().live.size(), 20U);
    for (void* const object : objects) {
        heap.free(object);
    }
    EXPECT_EQ(Ledger::the().live.size(), 1U) << "all but the top";
}

} // namespace
} // namespace heapwright::testing

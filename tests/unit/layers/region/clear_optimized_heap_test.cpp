// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/region/clear_optimized_heap.hpp>

#include <heapwright/heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace heapwright::testing {
namespace {

using Region = RegionHeap<1 * KiB, 8 * KiB, CountingHeap>;
using NoBlocks = CoalesceableHeap<SizeHeap<NullHeap>>;
using Merging = CoalesceHeap<4 * KiB, NoBlocks>;
using Heap = ClearOptimizedHeap<Merging, Region>;

static_assert(TaggedHeap<Heap> && ClearableHeap<Heap> && HoldingHeap<Heap> && OwningHeap<Heap>);
static_assert(ResizableHeap<Heap> && MeasurableHeap<Heap> && AnyOrderHeap<Heap>);
static_assert(!ZeroingHeap<Heap> && !AlignedHeap<Heap>);

/// What the library offers as a second heap: only what can be asked for what it holds.
template <class Second, class Super>
constexpr bool composes = requires {
    typename ClearOptimizedHeap<Second, Super>;
};
static_assert(!composes<FreelistHeap<NullHeap>, Region>); // takes one size only
static_assert(!composes<SizeHeap<Region>, Region>);       // holds nothing
static_assert(!composes<Merging, MmapHeap>);              // cannot be cleared
static_assert(!composes<CheckedHeap<Merging>, Region>);   // would refuse what it has not given out

TEST(ClearOptimizedHeap, MovesAPointerUntilSomethingIsFreed) {
    Ledger::begin();
    Heap heap;
    void* const first = heap.malloc(24);
    void* const second = heap.malloc(100);
    EXPECT_EQ(addressOf(first) % minAlignment, 0U);
    EXPECT_EQ(addressOf(second), addressOf(first) + 32);
    EXPECT_EQ(heap.getSize(first), 24U);
    EXPECT_EQ(heap.getSize(second), 104U);
}

TEST(ClearOptimizedHeap, ServesWhatWasFreedAndThenMovesOn) {
    Ledger::begin();
    Heap heap;
    void* const first = heap.malloc(100);
    void* const second = heap.malloc(100);
    void* const third = heap.malloc(100);
    heap.free(second);
    EXPECT_EQ(heap.malloc(100), second);
    EXPECT_EQ(addressOf(heap.malloc(100)), addressOf(third) + 112); // there was no other
    heap.free(first);
    EXPECT_EQ(addressOf(heap.malloc(200)), addressOf(third) + 224);       // none that fits
    EXPECT_EQ(addressOf(heap.malloc(100)), addressOf(third) + 224 + 208); // bump mode again
}

TEST(ClearOptimizedHeap, FreedNeighboursMergeInTheSecondHeap) {
    Ledger::begin();
    Heap heap;
    void* const first = heap.malloc(104);
    void* const second = heap.malloc(104);
    void* const third = heap.malloc(104);
    ASSERT_NE(heap.malloc(104), nullptr);
    heap.free(first);
    heap.free(third);
    heap.free(second);
    EXPECT_EQ(heap.malloc(3 * 112 - 8), first);
}

TEST(ClearOptimizedHeap, WhatIsFreedLastMergesWithWhatComesAfterIt) {
    Ledger::begin();
    Heap heap;
    ASSERT_NE(heap.malloc(104), nullptr);
    void* const last = heap.malloc(104);
    heap.free(last);
    void* const next = heap.malloc(200); // moves on, and knows that what is before is free
    EXPECT_EQ(addressOf(next), addressOf(last) + 112);
    heap.free(next);
    EXPECT_EQ(heap.malloc(300), last);
}

TEST(ClearOptimizedHeap, ClearReturnsAllAndThePointerMovesAgain) {
    Ledger::begin();
    {
        Heap heap;
        for (int round = 0; round < 3; ++round) {
            std::vector<void*> objects;
            for (int i = 0; i < 100; ++i) {
                objects.push_back(heap.malloc(100));
            }
            heap.free(objects[10]);
            heap.free(objects[20]);
            heap.clear();
            EXPECT_TRUE(Ledger::the().live.empty());
            EXPECT_EQ(heap.mallocHeld(100), nullptr); // nothing is left in the second heap
            void* const first = heap.malloc(100);
            EXPECT_EQ(addressOf(heap.malloc(100)), addressOf(first) + 112);
        }
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(ClearOptimizedHeap, ServesFromWhatItHoldsWithoutAskingBelow) {
    Ledger::begin();
    Heap heap;
    EXPECT_EQ(heap.mallocHeld(100), nullptr);
    EXPECT_EQ(Ledger::the().requests, 0U);
    void* const first = heap.malloc(100);
    EXPECT_EQ(addressOf(heap.mallocHeld(100)), addressOf(first) + 112);
    heap.free(first);
    EXPECT_EQ(heap.mallocHeld(100), first);
    EXPECT_EQ(heap.mallocHeld(50'000), nullptr);
    EXPECT_EQ(Ledger::the().requests, 1U);
}

TEST(ClearOptimizedHeap, ANullFromBelowGoesUpAndSizesMayNotOverflow) {
    Ledger::begin(Ledger::all);
    Heap heap;
    EXPECT_EQ(heap.malloc(100), nullptr);
    Ledger::begin();
    void* const object = heap.malloc(100);
    ASSERT_NE(object, nullptr);
    for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 8, SIZE_MAX - 32, SIZE_MAX / 2 + 1}) {
        EXPECT_EQ(heap.malloc(size), nullptr);
        EXPECT_EQ(heap.mallocHeld(size), nullptr);
    }
    heap.free(object);
    EXPECT_EQ(heap.malloc(SIZE_MAX), nullptr);
    EXPECT_NE(heap.malloc(100), nullptr);
}

TEST(ClearOptimizedHeap, ResizesAsTheSecondHeapDoes) {
    Ledger::begin();
    Heap heap;
    void* const first = heap.malloc(200);
    void* const second = heap.malloc(200);
    ASSERT_NE(heap.malloc(200), nullptr);
    EXPECT_FALSE(heap.resize(first, 300));
    EXPECT_TRUE(heap.resize(first, 24)); // the rest is free
    EXPECT_EQ(addressOf(heap.malloc(24)), addressOf(first) + 32);
    heap.free(second);
    EXPECT_FALSE(heap.resize(first, 100));
}

TEST(ClearOptimizedHeap, WorksOverAHeapWithoutAreas) {
    Ledger::begin();
    {
        ClearOptimizedHeap<Merging, ChunkHeap<64 * KiB, 0, CountingHeap>> heap;
        void* const first = heap.malloc(100);
        ASSERT_NE(heap.malloc(20'000), nullptr);
        heap.free(first);
        EXPECT_EQ(heap.malloc(100), first);
        for (int i = 0; i < 1000; ++i) {
            void* const object = heap.malloc(500);
            ASSERT_NE(object, nullptr);
            std::memset(object, i, 500);
        }
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(ClearOptimizedHeap, MeasuresWhatBothHold) {
    Ledger::begin();
    Heap heap;
    void* const object = heap.malloc(104);
    Footprint before;
    heap.measure(before);
    EXPECT_EQ(before.mapped, 1 * KiB - 32);
    EXPECT_EQ(before.heldCount, 1U);
    heap.free(object);
    EXPECT_TRUE(heap.owns(object));
}

} // namespace
} // namespace heapwright::testing

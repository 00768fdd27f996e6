// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/region/xalloc_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace heapwright::testing {
namespace {

using Xalloc = XallocHeap<64 * KiB, CountingHeap>;

static_assert(ClearableHeap<Xalloc> && ResizableHeap<Xalloc> && OwningHeap<Xalloc>);
static_assert(!SizedHeap<Xalloc> && AnyOrderHeap<Xalloc> && AnySizeHeap<Xalloc>);

TEST(XallocHeap, TakesItsAreaWithTheFirstRequestAndNoMore) {
    Ledger::begin();
    Xalloc heap;
    EXPECT_EQ(Ledger::the().requests, 0U);
    for (int i = 0; i < 100; ++i) {
        ASSERT_NE(heap.malloc(100), nullptr);
    }
    EXPECT_EQ(Ledger::the().requests, 1U);
    EXPECT_EQ(Ledger::the().live.begin()->second, 64 * KiB);
}

TEST(XallocHeap, GoesOnAfterTheLastObjectInUse) {
    Ledger::begin();
    Xalloc heap;
    void* const first = heap.malloc(100);
    void* const second = heap.malloc(100);
    void* const third = heap.malloc(100);
    heap.free(first);
    heap.free(second);
    void* const fourth = heap.malloc(100);
    EXPECT_GT(addressOf(fourth), addressOf(third));
    heap.free(fourth);
    heap.free(third);
    EXPECT_EQ(heap.malloc(100), first);
}

TEST(XallocHeap, IsFullWhenItsAreaIs) {
    Ledger::begin();
    Xalloc heap;
    EXPECT_EQ(heap.malloc(64 * KiB), nullptr);
    void* const most = heap.malloc(64 * KiB - 24);
    ASSERT_NE(most, nullptr);
    EXPECT_EQ(heap.malloc(1), nullptr);
    EXPECT_EQ(Ledger::the().requests, 1U);
    heap.free(most);
    EXPECT_EQ(heap.malloc(1), most);
    EXPECT_EQ(heap.malloc(SIZE_MAX), nullptr);
}

TEST(XallocHeap, AsksAgainAfterTheHeapBelowReturnedNull) {
    Ledger::begin(1);
    Xalloc heap;
    EXPECT_EQ(heap.malloc(16), nullptr);
    EXPECT_NE(heap.malloc(16), nullptr);
}

TEST(XallocHeap, ClearAndTheDestructorReturnTheArea) {
    Ledger::begin();
    {
        Xalloc heap;
        heap.clear();
        void* const object = heap.malloc(16);
        EXPECT_TRUE(heap.owns(object));
        heap.clear();
        EXPECT_TRUE(Ledger::the().live.empty());
        EXPECT_FALSE(heap.owns(object));
        ASSERT_NE(heap.malloc(16), nullptr);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(XallocHeap, ResizesTheLastObject) {
    Ledger::begin();
    Xalloc heap;
    void* const first = heap.malloc(16);
    void* const last = heap.malloc(16);
    EXPECT_FALSE(heap.resize(first, 8));
    EXPECT_TRUE(heap.resize(last, 1000));
    EXPECT_FALSE(heap.resize(last, 64 * KiB));
}

TEST(XallocHeap, MeasuresItsArea) {
    Ledger::begin();
    Xalloc heap;
    MemoryUsage before;
    heap.measure(before);
    EXPECT_EQ(before.mapped + before.held + before.heldCount, 0U);
    ASSERT_NE(heap.malloc(24), nullptr);
    MemoryUsage after;
    heap.measure(after);
    EXPECT_EQ(after.mapped, 64 * KiB);
    EXPECT_EQ(after.held, 64 * KiB - 8 - 32);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/null_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(FreelistHeap, GivesTheLastFreedFirst) {
    Ledger::begin();
    FreelistHeap<CountingHeap> heap;
    void* const first = heap.malloc(32);
    void* const second = heap.malloc(32);
    heap.free(first);
    heap.free(second);
    EXPECT_EQ(heap.malloc(32), second);
    EXPECT_EQ(heap.malloc(32), first);
    EXPECT_EQ(Ledger::the().requests, 2U);
    heap.free(first);
    heap.free(second);
}

TEST(FreelistHeap, HandsTheListDown) {
    Ledger::begin();
    FreelistHeap<CountingHeap> heap;
    EXPECT_FALSE(heap.flush());
    heap.free(heap.malloc(32));
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.heldCount, 1U);
    EXPECT_TRUE(heap.flush());
    EXPECT_TRUE(Ledger::the().live.empty());
}

} // namespace
} // namespace heapwright::testing

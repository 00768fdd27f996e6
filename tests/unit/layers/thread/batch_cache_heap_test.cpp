// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/thread/batch_cache_heap.hpp>
#include <heapwright/sizeclass/exact.hpp>

#include <gtest/gtest.h>

#include "cache_tests.hpp"

#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

template <std::size_t Target, std::size_t Most, class Below = Shared1>
using Cached = BatchCacheHeap<Exact<4>, Target, Most, 64, Below>; // 24, 40, 56 and 72 bytes

TEST(BatchCacheHeap, ServesTheObjectThatTheThreadFreedLast) {
    Ledger::begin();
    {
        Cached<4, 2> heap;
        void* const one = heap.malloc(24);
        EXPECT_EQ(Ledger::the().requests, 4U) << "a batch";
        void* const other = heap.malloc(10);
        heap.free(one);
        heap.free(other);
        EXPECT_EQ(heap.malloc(24), other);
        EXPECT_EQ(heap.malloc(24), one);
        EXPECT_EQ(Ledger::the().requests, 4U);
        heap.free(one);
        void* const larger = heap.malloc(25);
        EXPECT_NE(larger, one) << "that is another class";
        heap.free(larger);
        heap.free(other);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(BatchCacheHeap, KeepsTwoListsThenDepotsThenHandsDown) {
    Ledger::begin();
    {
        Cached<4, 2> heap;
        freeAll(heap, several(heap, 40));
        EXPECT_EQ(Ledger::the().live.size(), 4U * (2 + 2)) << "two lists, two batches in the depot";
        const std::size_t before = Ledger::the().requests;
        const std::vector<void*> again = several(heap, 16);
        EXPECT_EQ(Ledger::the().requests, before) << "all of them serve";
        freeAll(heap, again);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(BatchCacheHeap, BoundsTheMemoryOfAProducerAndAConsumer) {
    Ledger::begin();
    {
        Cached<4, 2> heap;
        for (int round = 0; round < 20; ++round) {
            std::vector<void*> objects = several(heap, 20);
            std::thread([&] { freeAll(heap, objects); }).join();
        }
        EXPECT_LE(Ledger::the().live.size(), 20U + 4 * 4 + 4 * 2);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(BatchCacheHeap, PassesBatchesFromThreadToThread) {
    Ledger::begin();
    {
        Cached<4, 8> heap;
        heap.free(heap.malloc(24)); // so that this thread has a slot
        std::thread([&] { freeAll(heap, several(heap, 16)); }).join();
        const std::size_t before = Ledger::the().requests;
        const std::vector<void*> objects = several(heap, 12);
        EXPECT_EQ(Ledger::the().requests, before) << "two batches of the depot, one of its own";
        freeAll(heap, objects);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

} // namespace
} // namespace heapwright::testing

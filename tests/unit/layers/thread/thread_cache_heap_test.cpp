// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/thread/thread_cache_heap.hpp>
#include <heapwright/sizeclass/exact.hpp>

#include <gtest/gtest.h>

#include "cache_tests.hpp"

#include <vector>

namespace heapwright::testing {
namespace {

template <std::size_t Most, std::size_t Batch, class Below = Shared1>
using Cached = ThreadCacheHeap<Exact<4>, Most, Batch, 64, Below>; // 24, 40, 56 and 72 bytes

TEST(ThreadCacheHeap, ServesWhatTheThreadFreedLast) {
    Ledger::begin();
    {
        Cached<1024, 1> heap;
        void* const one = heap.malloc(40);
        void* const other = heap.malloc(30);
        heap.free(one);
        heap.free(other);
        EXPECT_EQ(heap.malloc(33), other);
        EXPECT_EQ(heap.malloc(40), one);
        EXPECT_EQ(Ledger::the().requests, 2U);
        heap.free(one);
        void* const larger = heap.malloc(41);
        EXPECT_NE(larger, one) << "that is another class";
        EXPECT_EQ(Ledger::the().requests, 3U);
        heap.free(larger);
        heap.free(other);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(ThreadCacheHeap, IsFilledAndEmptiedByBatches) {
    Ledger::begin();
    {
        Cached<1024, 8> heap;
        void* const first = heap.malloc(24);
        EXPECT_EQ(Ledger::the().requests, 2U) << "one more: two are a sixteenth of the room";
        heap.free(first);
        freeAll(heap, several(heap, 100));
        const std::size_t kept = Ledger::the().live.size();
        EXPECT_LE(kept * 24, 1024U);
        EXPECT_GE(kept * 24, 1024U - 2 * 24U - 24U);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(ThreadCacheHeap, MakesRoomForAClassByAnother) {
    Ledger::begin();
    {
        Cached<256, 4> heap;
        const std::vector<void*> small = several(heap, 10);
        void* const large = heap.malloc(72);
        freeAll(heap, small);
        heap.free(large);
        EXPECT_EQ(heap.mallocHeld(72), large);
        heap.free(large);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

} // namespace
} // namespace heapwright::testing

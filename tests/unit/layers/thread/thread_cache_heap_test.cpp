// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/thread/thread_cache_heap.hpp>
#include <heapwright/sizeclass/exact.hpp>

#include <gtest/gtest.h>

#include "cache_tests.hpp"

#include <vector>

namespace heapwright::testing {
namespace {

template <std::size_t Most, class Overflow, class Below = Shared1>
using Cached = ThreadCacheHeap<Exact<4>, Most, Overflow, 64, Below>; // 24, 40, 56 and 72 bytes

TEST(ThreadCacheHeap, ServesTheObjectThatTheThreadFreedLast) {
    Ledger::begin();
    {
        Cached<1024, Batches<1>> heap;
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
        Cached<1024, Batches<8>> heap;
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
        Cached<256, Batches<4>> heap;
        const std::vector<void*> small = several(heap, 10);
        void* const large = heap.malloc(72);
        freeAll(heap, small);
        heap.free(large);
        EXPECT_EQ(heap.mallocHeld(72), large);
        heap.free(large);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(ThreadCacheHeap, MovesSingleObjectsFromAFullCache) {
    Ledger::begin();
    {
        Cached<128, Singles> heap; // three objects of 40 bytes
        void* const first = heap.malloc(40);
        EXPECT_EQ(Ledger::the().requests, 1U) << "a miss takes one object";
        const std::vector<void*> others = several(heap, 3, 40);
        heap.free(first);
        freeAll(heap, others);
        EXPECT_EQ(Ledger::the().live.size(), 3U) << "the last one did not fit";
        EXPECT_EQ(heap.malloc(40), others[1]);
        heap.free(others[1]);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(ThreadCacheHeap, TheOldestObjectsLeaveAFullCacheFirst) {
    Ledger::begin();
    {
        Cached<400, Ages<4>> heap; // ten objects of 40 bytes
        const std::vector<void*> objects = several(heap, 11, 40);
        void* const large = heap.malloc(72);
        heap.free(large); // eight frees will follow
        for (std::size_t i = 0; i < 8; ++i) {
            heap.free(objects[i]);
        }
        EXPECT_EQ(Ledger::the().live.size(), 12U) << "392 bytes wait";
        heap.free(objects[8]); // the objects that four frees or more have followed return
        EXPECT_EQ(Ledger::the().live.size(), 6U) << "the large one and five others are gone";
        EXPECT_EQ(heap.malloc(40), objects[8]);
        EXPECT_EQ(heap.malloc(40), objects[7]);
        EXPECT_EQ(heap.malloc(40), objects[6]);
        EXPECT_EQ(heap.malloc(40), objects[5]);
        for (std::size_t i = 5; i < 11; ++i) {
            heap.free(objects[i]);
        }
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(ThreadCacheHeap, YoungObjectsLeaveIfTheOldOnesMakeNoRoom) {
    Ledger::begin();
    {
        Cached<128, Ages<64>> heap;
        const std::vector<void*> objects = several(heap, 4, 40);
        freeAll(heap, objects);
        EXPECT_EQ(Ledger::the().live.size(), 2U) << "two objects were two frees old or older";
        EXPECT_EQ(heap.malloc(40), objects[3]);
        heap.free(objects[3]);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

} // namespace
} // namespace heapwright::testing

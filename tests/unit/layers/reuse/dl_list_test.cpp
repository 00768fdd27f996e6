// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/reuse/dl_list.hpp>
#include <heapwright/layers/source/null_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heapwright::testing {
namespace {

using List = DLList<CountingHeap>;

TEST(DLList, GivesTheFirstFreedFirst) {
    Ledger::begin();
    List heap;
    void* const first = heap.malloc(32);
    void* const second = heap.malloc(32);
    heap.free(first);
    heap.free(second);
    EXPECT_EQ(heap.malloc(32), first);
    EXPECT_EQ(heap.malloc(32), second);
    EXPECT_EQ(Ledger::the().requests, 2U);
    heap.free(first);
    heap.free(second);
}

TEST(DLList, LetsAnyObjectBeTakenOut) {
    Ledger::begin();
    {
        List heap;
        std::vector<void*> objects(5);
        for (void*& object : objects) {
            object = heap.malloc(32);
        }
        for (void* const object : objects) {
            heap.free(object);
        }
        for (const std::size_t i : {2U, 0U, 4U}) { // from the middle, the front and the back
            heap.remove(objects[i]);
        }
        EXPECT_EQ(heap.malloc(32), objects[1]);
        EXPECT_EQ(heap.malloc(32), objects[3]);
        EXPECT_EQ(heap.mallocHeld(32), nullptr);
        for (void* const object : objects) {
            heap.free(object);
        }
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(DLList, NeverGivesWhatMayBeTooSmall) {
    Ledger::begin();
    List heap;
    heap.free(heap.malloc(40));
    void* const larger = heap.malloc(41);
    EXPECT_EQ(Ledger::the().live.at(larger), 41U);
    EXPECT_EQ(Ledger::the().requests, 2U);
    heap.free(larger);
    void* const small = heap.malloc(1);
    EXPECT_EQ(Ledger::the().requests, 2U) << "raised to 16, which 40 covers";
    heap.free(small);
}

TEST(DLList, HandsDownWhatWaitsWhenThereIsNoMemory) {
    Ledger::begin(2);
    List heap;
    heap.free(heap.malloc(32));
    void* const large = heap.malloc(64);
    EXPECT_NE(large, nullptr);
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    heap.free(large);
    EXPECT_TRUE(heap.flush());
    EXPECT_FALSE(heap.flush());
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(DLList, ClearsWhatItServesAsZero) {
    Ledger::begin();
    DLList<ZeroingCountingHeap> heap;
    void* const object = heap.zalloc(32);
    ASSERT_NE(object, nullptr);
    std::memset(object, 7, 32);
    heap.free(object);
    auto* const again = static_cast<unsigned char*>(heap.zalloc(32));
    EXPECT_EQ(again, object);
    for (std::size_t i = 0; i < 32; ++i) {
        EXPECT_EQ(again[i], 0) << i;
    }
    heap.free(again);
}

TEST(DLList, MeasuresWhatWaits) {
    Ledger::begin();
    List heap;
    void* const first = heap.malloc(48);
    heap.free(heap.malloc(48));
    heap.free(first);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.heldCount, 2U);
    EXPECT_EQ(usage.held, 96U);
    EXPECT_EQ(usage.mapped, 96U);
}

TEST(DLList, ForgetsWhatWaitsWhenItIsCleared) {
    Ledger::begin();
    DLList<ChunkHeap<4 * KiB, 0, CountingHeap>> heap;
    heap.free(heap.malloc(32));
    heap.clear();
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(heap.mallocHeld(32), nullptr);
    EXPECT_NE(heap.malloc(64), nullptr);
}

TEST(DLList, OverNothingOnlyKeepsWhatItIsGiven) {
    DLList<NullHeap> heap;
    EXPECT_TRUE(CacheOnlyHeap<DLList<NullHeap>>);
    EXPECT_EQ(heap.malloc(32), nullptr);
    alignas(16) unsigned char memory[32];
    heap.free(memory);
    EXPECT_EQ(heap.mallocHeld(32), memory);
}

} // namespace
} // namespace heapwright::testing

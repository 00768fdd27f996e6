// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

using Chunks = ChunkHeap<4 * KiB, 8, CountingHeap>;

TEST(ChunkHeap, CarvesManyPiecesFromOneChunk) {
    Ledger::begin();
    Chunks heap;
    void* const first = heap.malloc(24);
    void* const second = heap.malloc(24);
    EXPECT_EQ(addressOf(first) % 16, 8U);
    EXPECT_EQ(addressOf(second), addressOf(first) + 32);
    EXPECT_EQ(Ledger::the().requests, 1U);
}

TEST(ChunkHeap, GivesALargeRequestAChunkOfItsOwnAndGoesOn) {
    Ledger::begin();
    Chunks heap;
    void* const first = heap.malloc(16);
    void* const large = heap.malloc(10'000);
    void* const next = heap.malloc(16);
    EXPECT_EQ(addressOf(next), addressOf(first) + 16);
    EXPECT_EQ(addressOf(large) % 16, 8U);
    EXPECT_EQ(Ledger::the().live.size(), 2U);
    heap.free(large, 10'000);
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    heap.free(first, 16); // a piece stays where it is
    EXPECT_EQ(Ledger::the().live.size(), 1U);
}

TEST(ChunkHeap, ReturnsTheChunksOnClearAndAtTheEnd) {
    Ledger::begin();
    {
        Chunks heap;
        for (int i = 0; i < 1000; ++i) {
            ASSERT_NE(heap.malloc(100), nullptr);
        }
        EXPECT_GT(Ledger::the().live.size(), 20U);
        heap.clear();
        EXPECT_TRUE(Ledger::the().live.empty());
        ASSERT_NE(heap.malloc(100), nullptr);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(ChunkHeap, ZeroesOnlyIfTheSuperheapDoes) {
    EXPECT_FALSE(ZeroingHeap<Chunks>);
    EXPECT_TRUE((ZeroingHeap<ChunkHeap<4 * KiB, 8, ZeroingCountingHeap>>));
}

} // namespace
} // namespace heapwright::testing

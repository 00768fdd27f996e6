// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(SizeHeap, KnowsTheSizeOfEachObject) {
    Ledger::begin();
    SizeHeap<CountingHeap> heap;
    for (std::size_t size = 1; size < 300; ++size) {
        void* const object = heap.malloc(size);
        EXPECT_GE(heap.getSize(object), size);
        EXPECT_LT(heap.getSize(object), size + 16);
        EXPECT_EQ(addressOf(object) % 16, 0U);
        heap.free(object);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(SizeHeap, NeedsOnlyEightBytesWhereThePhaseLeavesThem) {
    Ledger::begin();
    SizeHeap<CountingHeapAt<8>> phased;
    void* const object = phased.malloc(24);
    EXPECT_EQ(Ledger::the().live.begin()->second, 32U);
    EXPECT_EQ(addressOf(object) % 16, 0U);
    phased.free(object);
    SizeHeap<CountingHeap> plain;
    void* const other = plain.malloc(24);
    EXPECT_EQ(Ledger::the().live.begin()->second, 48U);
    plain.free(other);
}

TEST(SizeHeap, PassesTheSizeToASizedFree) {
    Ledger::begin();
    SizeHeap<ChunkHeap<4 * KiB, 8, CountingHeap>> heap;
    void* const large = heap.malloc(50'000);
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    heap.free(large);
    EXPECT_TRUE(Ledger::the().live.empty());
}

} // namespace
} // namespace heapwright::testing

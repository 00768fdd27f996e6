// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/region/zone_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace heapwright::testing {
namespace {

using Zone = ZoneHeap<2 * KiB, CountingHeap>;

static_assert(ClearableHeap<Zone> && AlignedHeap<Zone> && OwningHeap<Zone> && AnyOrderHeap<Zone>);

TEST(ZoneHeap, ItsChunksAreAllOfOneSize) {
    Ledger::begin();
    Zone heap;
    for (int i = 0; i < 1000; ++i) {
        ASSERT_NE(heap.malloc(16), nullptr);
    }
    EXPECT_EQ(Ledger::the().live.size(), 8U); // 125 objects each
    for (const auto& [block, size] : Ledger::the().live) {
        EXPECT_EQ(size, 2 * KiB - 32);
    }
}

TEST(ZoneHeap, FreesAllAtOnceAndNothingBefore) {
    Ledger::begin();
    {
        Zone heap;
        void* const first = heap.malloc(16);
        heap.free(first);
        EXPECT_EQ(addressOf(heap.malloc(16)), addressOf(first) + 16);
        EXPECT_TRUE(heap.owns(first));
        heap.clear();
        EXPECT_TRUE(Ledger::the().live.empty());
        EXPECT_FALSE(heap.owns(first));
        ASSERT_NE(heap.malloc(5000), nullptr);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(ZoneHeap, ReturnsNullIfTheHeapBelowDoes) {
    Ledger::begin(Ledger::all);
    Zone heap;
    EXPECT_EQ(heap.malloc(16), nullptr);
    EXPECT_EQ(heap.memalign(64, 16), nullptr);
    std::size_t granted = 0;
    EXPECT_EQ(heap.mallocArea(16, granted), nullptr);
    EXPECT_EQ(heap.malloc(SIZE_MAX), nullptr);
    Ledger::begin();
    EXPECT_NE(heap.malloc(16), nullptr);
    ASSERT_NE(heap.mallocArea(16, granted), nullptr);
    EXPECT_EQ(granted, 2 * KiB - 32 - 16 - 16);
    EXPECT_EQ(addressOf(heap.memalign(256, 16)) % 256, 0U);
}

TEST(ZoneHeap, MeasuresTheRestOfTheChunk) {
    Ledger::begin();
    Zone heap;
    ASSERT_NE(heap.malloc(16), nullptr);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.mapped, 2 * KiB - 32);
    EXPECT_EQ(usage.held, 2 * KiB - 32 - 16 - 16);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/region/region_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace heapwright::testing {
namespace {

using Region = RegionHeap<1 * KiB, 8 * KiB, CountingHeap>;

static_assert(ClearableHeap<Region> && AlignedHeap<Region> && OwningHeap<Region>);
static_assert(!SizedHeap<Region> && !ZeroingHeap<Region> && AnyOrderHeap<Region>);

TEST(RegionHeap, PutsObjectsSideBySide) {
    Ledger::begin();
    Region heap;
    void* const first = heap.malloc(20);
    void* const second = heap.malloc(1);
    EXPECT_EQ(addressOf(second), addressOf(first) + 32);
    EXPECT_EQ(addressOf(heap.malloc(1)), addressOf(second) + 16);
    EXPECT_EQ(Ledger::the().requests, 1U);
}

TEST(RegionHeap, DoublesItsChunksUpToTheMost) {
    Ledger::begin();
    Region heap;
    for (int i = 0; i < 2000; ++i) {
        ASSERT_NE(heap.malloc(16), nullptr);
    }
    std::map<std::size_t, int> sizes;
    for (const auto& [block, size] : Ledger::the().live) {
        ++sizes[size + 32]; // less the room for a header below
    }
    EXPECT_EQ(sizes.at(1 * KiB), 1);
    EXPECT_EQ(sizes.at(2 * KiB), 1);
    EXPECT_EQ(sizes.at(4 * KiB), 1);
    EXPECT_EQ(sizes.at(8 * KiB), 4);
    EXPECT_EQ(sizes.size(), 4U);
}

TEST(RegionHeap, ALargeRequestGetsAChunkOfItsOwnAndTheOthersGoOn) {
    Ledger::begin();
    Region heap;
    void* const first = heap.malloc(16);
    void* const large = heap.malloc(100'000);
    std::memset(large, 1, 100'000);
    EXPECT_EQ(addressOf(heap.malloc(16)), addressOf(first) + 16);
    EXPECT_EQ(Ledger::the().live.size(), 2U);
}

TEST(RegionHeap, SingleFreesDoNothing) {
    Ledger::begin();
    Region heap;
    void* const first = heap.malloc(16);
    heap.free(first);
    EXPECT_NE(heap.malloc(16), first);
    EXPECT_EQ(Ledger::the().live.size(), 1U);
}

TEST(RegionHeap, ClearReturnsAllAndStartsSmallAgain) {
    Ledger::begin();
    {
        Region heap;
        for (int round = 0; round < 3; ++round) {
            for (int i = 0; i < 2000; ++i) {
                ASSERT_NE(heap.malloc(16), nullptr);
            }
            heap.clear();
            EXPECT_TRUE(Ledger::the().live.empty());
            ASSERT_NE(heap.malloc(16), nullptr);
            EXPECT_EQ(Ledger::the().live.begin()->second, 1 * KiB - 32);
        }
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(RegionHeap, ASmallerChunkWillDoWhereALargeOneCannotBeHad) {
    Ledger::begin(2);
    Region heap;
    ASSERT_NE(heap.malloc(900), nullptr);
    ASSERT_NE(heap.malloc(900), nullptr); // the second request was refused, the third was not
    EXPECT_EQ(Ledger::the().requests, 3U);
    EXPECT_EQ(Ledger::the().live.size(), 2U);
}

TEST(RegionHeap, KeepsItsStateIfTheHeapBelowReturnsNull) {
    for (std::size_t refuse = 1; refuse < 8; ++refuse) {
        Ledger::begin();
        Region heap;
        void* const first = heap.malloc(900);
        Ledger::the().refuse = Ledger::all;
        EXPECT_EQ(heap.malloc(900 * refuse), nullptr);
        EXPECT_EQ(addressOf(heap.malloc(16)), addressOf(first) + 912); // there is still room
        Ledger::the().refuse = 0;
        EXPECT_NE(heap.malloc(900 * refuse), nullptr);
    }
}

TEST(RegionHeap, RefusesSizesThatOverflow) {
    Ledger::begin();
    Region heap;
    for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX - 31, SIZE_MAX - 64}) {
        EXPECT_EQ(heap.malloc(size), nullptr);
        EXPECT_EQ(heap.memalign(64, size), nullptr);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(RegionHeap, AlignsAnObjectInItsChunk) {
    Ledger::begin();
    Region heap;
    for (std::size_t align = 1; align <= 4 * KiB; align *= 2) {
        ASSERT_NE(heap.malloc(1), nullptr);
        void* const object = heap.memalign(align, 100);
        EXPECT_EQ(addressOf(object) % align, 0U);
        EXPECT_EQ(addressOf(object) % minAlignment, 0U);
        std::memset(object, 1, 100);
    }
}

TEST(RegionHeap, GivesOutAllThatIsLeftOfAChunk) {
    Ledger::begin();
    Region heap;
    void* const first = heap.malloc(16);
    std::size_t granted = 0;
    void* const area = heap.mallocArea(100, granted);
    EXPECT_EQ(addressOf(area), addressOf(first) + 16);
    EXPECT_EQ(granted, 1 * KiB - 32 - 16 - 16);
    std::memset(area, 1, granted);
    ASSERT_NE(heap.mallocArea(1, granted), nullptr); // the next chunk
    EXPECT_EQ(granted, 2 * KiB - 32 - 16);
    ASSERT_NE(heap.mallocArea(50'000, granted), nullptr);
    EXPECT_GE(granted, 50'000U);
    EXPECT_EQ(heap.mallocArea(SIZE_MAX, granted), nullptr);
}

TEST(RegionHeap, OwnsAddressesInItsChunks) {
    Ledger::begin();
    Region heap;
    Region other;
    void* const mine = heap.malloc(16);
    void* const large = heap.malloc(50'000);
    EXPECT_TRUE(heap.owns(mine) && heap.owns(large) && heap.owns(forward(large, 49'999)));
    EXPECT_FALSE(heap.owns(other.malloc(16)));
    heap.clear();
    EXPECT_FALSE(heap.owns(mine));
}

TEST(RegionHeap, AddressSanitizerFindsAccessesOutsideObjects) {
    if constexpr (platform::poisons) {
        Ledger::begin();
        Region heap;
        auto* const object = static_cast<char*>(heap.malloc(20));
        std::memset(object, 1, 20);
        EXPECT_DEATH(static_cast<volatile char*>(object)[20] = 1, "use-after-poison");
        std::size_t granted = 0;
        std::memset(heap.mallocArea(100, granted), 1, granted);
    } else {
        GTEST_SKIP() << "not built with AddressSanitizer";
    }
}

TEST(RegionHeap, MeasuresTheRestOfTheChunk) {
    Ledger::begin();
    Region heap;
    ASSERT_NE(heap.malloc(16), nullptr);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.mapped, 1 * KiB - 32);
    EXPECT_EQ(usage.held, 1 * KiB - 32 - 16 - 16);
    EXPECT_EQ(usage.heldCount, 1U);
}

} // namespace
} // namespace heapwright::testing

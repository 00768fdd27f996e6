// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/buddy_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>

#include <support/counting_heap.hpp>
#include <support/history.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace heapwright::testing {
namespace {

// Areas of 64 KiB over a source that cannot align; the map takes 2 KiB of each.
using Buddies = BuddyHeap<5, 16, CountingHeap>;
using Mapped = BuddyHeap<5, 16, MmapHeap>;

constexpr std::size_t areaSize = 64 * KiB;

TEST(BuddyHeap, GivesBlocksOfPowersOfTwoAlignedToTheirSize) {
    Ledger::begin();
    Buddies heap;
    for (std::size_t size = 1; size <= areaSize / 2; size += size < 300 ? 1 : 97) {
        void* const object = heap.malloc(size);
        ASSERT_NE(object, nullptr);
        const std::size_t block = heap.getSize(object);
        ASSERT_GE(block, size);
        ASSERT_TRUE(block == 32 || block / 2 < size) << block << " for " << size;
        ASSERT_EQ(block & (block - 1), 0U);
        ASSERT_EQ(addressOf(object) % block, 0U);
        heap.free(object);
    }
}

TEST(BuddyHeap, HalvesAndMergesWithTheOtherHalfOnly) {
    Ledger::begin();
    Buddies heap;
    void* const keeps = heap.malloc(32); // so that the area stays
    void* const odd = heap.malloc(1024); // the one that starts without its other half
    void* const whole = heap.malloc(4096);
    heap.free(whole);
    void* quarters[4];
    for (void*& quarter : quarters) {
        quarter = heap.malloc(1024);
    }
    std::sort(std::begin(quarters), std::end(quarters));
    for (std::size_t i = 0; i < 4; ++i) {
        ASSERT_EQ(quarters[i], forward(quarters[0], i * 1024));
    }
    ASSERT_EQ(addressOf(quarters[0]) % 4096, 0U);
    heap.free(quarters[1]);
    heap.free(quarters[2]); // beside it, but of another pair
    void* const half = heap.malloc(2048);
    EXPECT_TRUE(half < quarters[0] || half > quarters[3]);
    heap.free(half);
    heap.free(quarters[0]);
    EXPECT_EQ(heap.mallocHeld(2048), quarters[0]);
    heap.free(quarters[0]);
    heap.free(quarters[3]);
    EXPECT_EQ(heap.malloc(4096), quarters[0]);
    heap.free(quarters[0]);
    heap.free(odd);
    heap.free(keeps);
}

/// After any cuts of an area, it serves the largest block again once all is free. The area itself
/// returns with the last block.
TEST(BuddyHeap, IsWholeAgainAfterAnyHistory) {
    for (const std::uint32_t seed : {1U, 2U, 3U, 4U, 5U}) {
        Ledger::begin();
        Buddies heap;
        void* const keeps = heap.malloc(32);
        std::mt19937 random(seed);
        std::vector<void*> objects;
        while (void* const object = heap.mallocHeld(1 + random() % (1U << random() % 12))) {
            objects.push_back(object);
        }
        std::shuffle(objects.begin(), objects.end(), random);
        EXPECT_EQ(heap.mallocHeld(areaSize / 2), nullptr);
        for (void* const object : objects) {
            heap.free(object);
        }
        EXPECT_EQ(Ledger::the().requests, 1U);
        void* const half = heap.mallocHeld(areaSize / 2);
        ASSERT_NE(half, nullptr);
        heap.free(keeps);
        EXPECT_EQ(Ledger::the().live.size(), 1U);
        heap.free(half);
        EXPECT_TRUE(Ledger::the().live.empty());
    }
}

TEST(BuddyHeap, TakesLargeObjectsFromBelow) {
    Ledger::begin();
    Buddies heap;
    auto* const large = static_cast<unsigned char*>(heap.malloc(areaSize / 2 + 1));
    auto* const larger = static_cast<unsigned char*>(heap.malloc(10 * areaSize));
    void* const small = heap.malloc(100);
    EXPECT_EQ(Ledger::the().live.size(), 3U);
    EXPECT_EQ(heap.getSize(large), areaSize / 2 + 1);
    EXPECT_EQ(heap.getSize(larger), 10 * areaSize);
    std::memset(large, 1, areaSize / 2 + 1);
    std::memset(larger, 2, 10 * areaSize);
    EXPECT_EQ(heap.mallocHeld(areaSize), nullptr);
    heap.free(large);
    EXPECT_EQ(Ledger::the().live.size(), 2U);
    EXPECT_EQ(std::count(larger, larger + 10 * areaSize, 2),
              static_cast<std::ptrdiff_t>(10 * areaSize));
    heap.free(larger);
    heap.free(small);
    EXPECT_TRUE(Ledger::the().live.empty());
}

template <class H>
void alignsBeyondItsAreas() {
    H heap;
    std::vector<void*> objects;
    for (std::size_t align = 16; align <= 4 * MiB; align *= 2) {
        for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, 3 * areaSize}) {
            void* const object = heap.memalign(align, size);
            ASSERT_NE(object, nullptr);
            EXPECT_EQ(addressOf(object) % align, 0U);
            EXPECT_GE(heap.getSize(object), size);
            std::memset(object, 7, size);
            objects.push_back(object);
        }
    }
    for (std::size_t i = 0; i < objects.size(); i += 2) {
        heap.free(objects[i]);
    }
    for (std::size_t i = 1; i < objects.size(); i += 2) {
        heap.free(objects[i]);
    }
}

TEST(BuddyHeap, AlignsBeyondItsAreas) {
    Ledger::begin();
    alignsBeyondItsAreas<Buddies>();
    EXPECT_TRUE(Ledger::the().live.empty());
    alignsBeyondItsAreas<Mapped>();
}

TEST(BuddyHeap, ResizesByHalves) {
    Ledger::begin();
    Buddies heap;
    void* const odd = heap.malloc(1024); // the one that starts without its other half
    auto* const object = static_cast<unsigned char*>(heap.malloc(1024));
    ASSERT_EQ(addressOf(object) % 2048, 0U) << "the first half of its pair";
    object[0] = 9;
    EXPECT_TRUE(heap.resize(object, 100));
    EXPECT_EQ(heap.getSize(object), 128U);
    void* const upper = heap.malloc(512); // of the memory that it returned
    EXPECT_EQ(upper, object + 512);
    EXPECT_FALSE(heap.resize(object, 1024)) << "a half that it lacks is in use";
    EXPECT_EQ(heap.getSize(object), 128U);
    EXPECT_TRUE(heap.resize(object, 512)) << "the others are not";
    heap.free(upper);
    EXPECT_TRUE(heap.resize(object, 2000));
    EXPECT_EQ(heap.getSize(object), 2048U);
    EXPECT_FALSE(heap.resize(object, areaSize));
    EXPECT_EQ(object[0], 9);
    heap.free(object);
    heap.free(odd);
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(BuddyHeap, ResizesLargerObjectsAsTheHeapBelowCan) {
    Ledger::begin();
    Buddies heap;
    void* const object = heap.malloc(4 * areaSize);
    EXPECT_FALSE(heap.resize(object, 4 * areaSize + 1));
    EXPECT_TRUE(heap.resize(object, 3 * areaSize));
    EXPECT_FALSE(heap.resize(object, areaSize)) << "too much would be lost";
    EXPECT_FALSE(heap.resize(object, 100));
    heap.free(object);
    Mapped mapped;
    void* const large = mapped.malloc(4 * areaSize);
    EXPECT_TRUE(mapped.resize(large, areaSize));
    EXPECT_EQ(mapped.getSize(large), areaSize);
    EXPECT_FALSE(mapped.resize(large, 1000)) << "it belongs in a block then";
    mapped.free(large);
}

TEST(BuddyHeap, RefusesImpossibleRequests) {
    Ledger::begin();
    Buddies heap;
    for (const volatile std::size_t size : {SIZE_MAX, SIZE_MAX - 47, SIZE_MAX - areaSize}) {
        EXPECT_EQ(heap.malloc(size), nullptr);
        EXPECT_EQ(heap.memalign(8 * areaSize, size), nullptr);
        EXPECT_EQ(heap.memalign(64, size), nullptr);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(BuddyHeap, ReturnsAllWhenItIsClearedOrEnds) {
    Ledger::begin();
    {
        Buddies heap;
        for (int round = 0; round < 3; ++round) {
            for (std::size_t i = 0; i < 500; ++i) {
                ASSERT_NE(heap.malloc(i * 200), nullptr);
            }
            heap.clear();
            EXPECT_TRUE(Ledger::the().live.empty());
            EXPECT_EQ(heap.mallocHeld(32), nullptr);
        }
        ASSERT_NE(heap.malloc(1), nullptr);
        ASSERT_NE(heap.memalign(areaSize, 1), nullptr);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(BuddyHeap, ReportsHeldMemory) {
    Mapped heap;
    void* const object = heap.malloc(1000);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_GE(usage.mapped, areaSize);
    EXPECT_EQ(usage.held, areaSize - 1024 - 2 * KiB - 64) << "but for the object and the map";
    heap.free(object);
    MemoryUsage empty;
    heap.measure(empty);
    EXPECT_EQ(empty.mapped, 0U);
    EXPECT_EQ(empty.held, 0U);
}

TEST(BuddyHeap, AgreesWithTheModel) {
    for (const std::uint32_t seed : {1U, 2U, 3U}) {
        Ledger::begin();
        {
            Buddies heap;
            runHistory(heap, seed, {6000, 150, 1, 50'000, false});
            BuddyHeap<4, 8, CountingHeap> tiny;
            runHistory(tiny, seed, {3000, 100, 1, 400, false});
        }
        EXPECT_TRUE(Ledger::the().live.empty());
        Mapped mapped;
        runHistory(mapped, seed, {3000, 100, 1, 100'000, false});
    }
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/coalesce_heap.hpp>
#include <heapwright/layers/object/ansi_wrapper.hpp>
#include <heapwright/layers/object/checked_heap.hpp>
#include <heapwright/layers/object/coalesceable_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/observe/bounded_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/source/static_buffer_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace heapwright::testing {
namespace {

using Bounded = BoundedHeap<1000, SizeHeap<CountingHeap>>;

TEST(BoundedHeap, GivesNullBeyondTheBoundAndMemoryAgainAfterAFree) {
    Ledger::begin();
    Bounded heap;
    void* const first = heap.malloc(600);
    ASSERT_NE(first, nullptr);
    const std::size_t asked = Ledger::the().requests;
    EXPECT_EQ(heap.malloc(600), nullptr);
    EXPECT_EQ(Ledger::the().requests, asked) << "nobody below was troubled";
    void* const second = heap.malloc(300);
    EXPECT_NE(second, nullptr);
    heap.free(first);
    void* const third = heap.malloc(600);
    EXPECT_NE(third, nullptr);
    heap.free(second);
    heap.free(third);
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(BoundedHeap, CountsAnObjectAsLargeAsItCame) {
    Ledger::begin();
    BoundedHeap<100, SizeHeap<CountingHeap>> heap; // 97 bytes are requested and 112 would be
                                                   // returned
    EXPECT_EQ(heap.malloc(97), nullptr);
    EXPECT_TRUE(Ledger::the().live.empty()) << "what came was given back";
    void* const object = heap.malloc(96);
    EXPECT_NE(object, nullptr);
    EXPECT_EQ(heap.malloc(1), nullptr);
    heap.free(object);
}

TEST(BoundedHeap, DoesNotCountAFailedAllocation) {
    for (std::size_t refuse = 1; refuse <= 4; ++refuse) {
        Ledger::begin(refuse);
        Bounded heap;
        for (std::size_t request = 1; request <= 4; ++request) {
            void* const object = heap.malloc(900);
            EXPECT_EQ(object == nullptr, request == refuse);
            if (object != nullptr) {
                heap.free(object);
            }
        }
        EXPECT_TRUE(Ledger::the().live.empty());
    }
}

TEST(BoundedHeap, RefusesSizesThatOverflow) {
    BoundedHeap<SIZE_MAX, SizeHeap<CountingHeap>> heap;
    Ledger::begin();
    EXPECT_EQ(heap.malloc(SIZE_MAX), nullptr);
    EXPECT_EQ(heap.malloc(SIZE_MAX - 16), nullptr);
    BoundedHeap<1 * MiB, MmapHeap> paged;
    void* const object = paged.malloc(10);
    EXPECT_EQ(paged.relocate(object, SIZE_MAX), nullptr);
    EXPECT_FALSE(paged.resize(object, SIZE_MAX));
    EXPECT_EQ(paged.memalign(4096, SIZE_MAX), nullptr);
    paged.free(object);
}

TEST(BoundedHeap, GrowthIsBoundedToo) {
    BoundedHeap<64 * KiB, MmapHeap> heap;
    void* object = heap.malloc(10'000);
    EXPECT_FALSE(heap.resize(object, 70'000));
    EXPECT_EQ(heap.relocate(object, 70'000), nullptr);
    object = heap.relocate(object, 50'000);
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(heap.malloc(20'000), nullptr);
    EXPECT_TRUE(heap.resize(object, 10'000));
    void* const other = heap.malloc(20'000);
    EXPECT_NE(other, nullptr);
    heap.free(other);
    heap.free(object);
    object = heap.zalloc(60'000);
    EXPECT_NE(object, nullptr) << "all that was live was uncounted";
    heap.free(object);
}

TEST(BoundedHeap, ShrinksAnObjectThatRoundsUpBeyondTheBound) {
    using Pages = BoundedHeap<12'000, MmapHeap>; // three pages do not fit, two do
    Pages heap;
    void* const object = heap.malloc(8000);
    ASSERT_NE(object, nullptr);
    const std::size_t had = heap.getSize(object);
    EXPECT_FALSE(heap.resize(object, 8500)); // it would get 12,264
    EXPECT_EQ(heap.getSize(object), had);
    EXPECT_EQ(heap.malloc(8500), nullptr);
    heap.free(object);
    EXPECT_NE(heap.malloc(8000), nullptr);
}

TEST(BoundedHeap, ClearRestoresTheWholeBound) {
    BoundedHeap<800, StaticBufferHeap<1 * KiB>> heap;
    EXPECT_NE(heap.malloc(700), nullptr);
    EXPECT_EQ(heap.malloc(200), nullptr);
    heap.clear();
    EXPECT_NE(heap.memalign(64, 700), nullptr);
}

/// The bound against a sum kept outside, over a random history of every verb.
TEST(BoundedHeap, TheSumNeverPassesTheBound) {
    constexpr std::size_t bound = 20'000;
    using Blocks = CoalesceHeap<4 * KiB, CoalesceableHeap<MmapHeap>>;
    BoundedHeap<bound, Blocks> heap;
    std::mt19937 random(20261122);
    std::vector<void*> live;
    std::size_t refused = 0;
    for (int step = 0; step < 5000; ++step) {
        const std::size_t size = 1 + random() % 2000;
        void* const chosen = live.empty() ? nullptr : live[random() % live.size()];
        if (chosen == nullptr || random() % 2 == 0) {
            void* const object = random() % 4 == 0   ? heap.memalign(64, size)
                                 : random() % 3 == 0 ? heap.mallocHeld(size)
                                                     : heap.malloc(size);
            if (object != nullptr) {
                live.push_back(object);
            } else {
                ++refused;
            }
        } else if (random() % 3 == 0) {
            refused += heap.resize(chosen, size) ? 0U : 1U;
        } else {
            heap.free(chosen);
            std::erase(live, chosen);
        }
        std::size_t sum = 0;
        for (void* const object : live) {
            sum += heap.getSize(object);
        }
        ASSERT_LE(sum, bound) << step;
    }
    EXPECT_GT(refused, 0U);
    for (void* const object : live) {
        heap.free(object);
    }
    EXPECT_NE(heap.malloc(bound - 16), nullptr) << "nothing is counted any more";
}

TEST(BoundedHeapDeath, ReportsAnInvalidFree) {
    BoundedHeap<1 * MiB, CheckedHeap<SizeHeap<MmapHeap>>> heap;
    void* const object = heap.malloc(100);
    void* const other = heap.malloc(100);
    EXPECT_DEATH(heap.free(forward(object, 8)), "heapwright: free\\(\\): invalid pointer");
    EXPECT_DEATH(heap.free(forward(object, 16)), "heapwright: free\\(\\): invalid pointer");
    heap.free(other);
    heap.free(object);
}

} // namespace
} // namespace heapwright::testing

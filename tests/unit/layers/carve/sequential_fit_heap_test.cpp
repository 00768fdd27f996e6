// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/sequential_fit_heap.hpp>
#include <heapwright/layers/object/coalesceable_heap.hpp>
#include <heapwright/structure/fit/exact_fit.hpp>
#include <heapwright/structure/fit/sequential_fits.hpp>
#include <heapwright/structure/fit/size_tree.hpp>

#include <support/counting_heap.hpp>
#include <support/history.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace heapwright::testing {
namespace {

template <class Fit>
using Heap = SequentialFitHeap<Fit, 4 * KiB, CoalesceableHeap<ContiguousCountingHeap>>;

/// Holes of the given sizes, in this order in memory, between walls that stay; nothing else is free
/// but the end.
template <class H>
std::vector<void*> holes(H& heap, const std::vector<std::size_t>& sizes) {
    std::vector<void*> objects;
    for (const std::size_t size : sizes) {
        objects.push_back(heap.malloc(size));
        EXPECT_NE(heap.malloc(16), nullptr);
    }
    for (std::size_t i = 0; i < objects.size(); i += 2) { // in no order
        heap.free(objects[i]);
    }
    for (std::size_t i = 1; i < objects.size(); i += 2) {
        heap.free(objects[i]);
    }
    return objects;
}

const std::vector<std::size_t> sizes = {3000, 200, 888, 104, 904, 120, 1000};

TEST(SequentialFitHeap, FirstFitServesFromTheLowEnd) {
    Ledger::begin();
    Heap<FirstFit> heap;
    const std::vector<void*> at = holes(heap, sizes);
    EXPECT_EQ(heap.malloc(104), at[0]);
    EXPECT_EQ(heap.malloc(104), forward(at[0], 112)) << "the rest of the first is the first";
    EXPECT_EQ(heap.malloc(2500), forward(at[0], 224));
    EXPECT_EQ(heap.malloc(800), at[2]);
    EXPECT_EQ(heap.malloc(900), at[4]);
}

TEST(SequentialFitHeap, NextFitGoesOnWhereItStopped) {
    Ledger::begin();
    Heap<NextFit> heap;
    const std::vector<void*> at = holes(heap, sizes);
    EXPECT_EQ(heap.malloc(2800), at[0]);
    EXPECT_EQ(heap.malloc(104), forward(at[0], 2816)) << "the rest begins the next search";
    EXPECT_EQ(heap.malloc(104), at[1]);
    heap.free(at[0]); // does not come again before its turn
    EXPECT_EQ(heap.malloc(850), at[2]);
    EXPECT_EQ(heap.malloc(850), at[4]);
    EXPECT_EQ(heap.malloc(900), at[6]);
    EXPECT_EQ(heap.malloc(900), at[0]) << "round the end";
}

template <class Fit>
void servesTheSmallest() {
    Ledger::begin();
    Heap<Fit> heap;
    const std::vector<void*> at = holes(heap, sizes);
    EXPECT_EQ(heap.malloc(104), at[3]);
    EXPECT_EQ(heap.malloc(104), at[5]);
    EXPECT_EQ(heap.malloc(104), at[1]);
    EXPECT_EQ(heap.malloc(889), at[4]) << "the one before it lacks a byte";
    EXPECT_EQ(heap.malloc(889), at[6]);
    EXPECT_EQ(heap.malloc(889), at[0]);
}

TEST(SequentialFitHeap, BestFitServesTheSmallestThatFits) {
    servesTheSmallest<BestFit>();
    servesTheSmallest<SizeTree>();
    servesTheSmallest<ExactFit<10, BestFit>>();
}

template <class Fit>
class EveryFit : public ::testing::Test {};
using Fits = ::testing::Types<FirstFit, NextFit, BestFit, ExactFit<127, BestFit>, SizeTree>;
TYPED_TEST_SUITE(EveryFit, Fits);

/// Cut small, freed in an order that never meets a free neighbour until the last third, and merged
/// to what it was.
TYPED_TEST(EveryFit, MergesAllFragments) {
    Ledger::begin();
    Heap<TypeParam> heap;
    constexpr std::size_t count = 3000;
    for (int round = 0; round < 3; ++round) {
        std::vector<void*> objects;
        for (std::size_t i = 0; i < count; ++i) {
            objects.push_back(heap.malloc(100));
        }
        void* const wall = heap.malloc(16);
        for (const std::size_t part : {0U, 2U, 1U}) {
            for (std::size_t i = part; i < count; i += 3) {
                heap.free(objects[i]);
            }
            void* const larger = heap.mallocHeld(350);
            if (larger != nullptr) {
                heap.free(larger);
            }
            ASSERT_EQ(larger != nullptr && larger < wall, part == 1U)
                << "a hole holds one object, then two, then all";
        }
        void* const whole = heap.mallocHeld(count * 112 - 8);
        EXPECT_EQ(whole, *std::min_element(objects.begin(), objects.end()));
        heap.free(whole);
        heap.free(wall);
    }
    EXPECT_EQ(Ledger::the().live.size(), 1U);
}

TYPED_TEST(EveryFit, AgreesWithTheModelWhereMemoryIsShort) {
    for (const std::uint32_t seed : {1U, 2U, 3U, 4U}) {
        Ledger::begin();
        {
            Heap<TypeParam> heap;
            runHistory(heap, seed, {8000, 60, 1, 20'000, false});
        }
        EXPECT_TRUE(Ledger::the().live.empty());
    }
}

TYPED_TEST(EveryFit, ReportsHeldMemory) {
    Ledger::begin();
    Heap<TypeParam> heap;
    holes(heap, sizes);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.heldCount, sizes.size() + 1) << "and the end";
    std::size_t least = 0;
    for (const std::size_t size : sizes) {
        least += size;
    }
    EXPECT_GE(usage.held, least);
    EXPECT_TRUE(heap.trim(0));
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/object/checked_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/observe/statistics_heap.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

using Counting = StatisticsHeap<SizeHeap<CountingHeap>>;

class StatisticsHeapTest : public ::testing::Test {
protected:
    void SetUp() override { Ledger::begin(); }
    const CallStatistics& told() { return heap_.statistics(); }

    Counting heap_;
};

TEST_F(StatisticsHeapTest, CountsWhatIsLive) {
    void* const one = heap_.malloc(40);
    void* const two = heap_.malloc(100);
    const std::size_t both = heap_.getSize(one) + heap_.getSize(two);
    EXPECT_EQ(told().liveObjects, 2U);
    EXPECT_EQ(told().liveBytes, both);
    heap_.free(one);
    heap_.free(two);
    EXPECT_EQ(told().liveObjects, 0U);
    EXPECT_EQ(told().liveBytes, 0U);
    EXPECT_EQ(told().peakObjects, 2U);
    EXPECT_EQ(told().peakBytes, both);
    EXPECT_EQ(told().bytesRequested, 140U);
    EXPECT_EQ(told().of(Verb::malloc).calls, 2U);
    EXPECT_EQ(told().of(Verb::free).calls, 2U);
    EXPECT_EQ(told().of(Verb::getSize).calls, 2U);
    EXPECT_EQ(told().sizes[5], 1U);
    EXPECT_EQ(told().sizes[6], 1U);
}

TEST_F(StatisticsHeapTest, CountsFailuresAndNothingElseForThem) {
    Ledger::begin(1);
    EXPECT_EQ(heap_.malloc(40), nullptr);
    EXPECT_EQ(heap_.malloc(~std::size_t{0}), nullptr);
    EXPECT_EQ(told().of(Verb::malloc).calls, 2U);
    EXPECT_EQ(told().of(Verb::malloc).failures, 2U);
    EXPECT_EQ(told().peakObjects, 0U);
    EXPECT_EQ(told().bytesRequested, 0U);
    heap_.free(heap_.malloc(40));
    EXPECT_EQ(told().of(Verb::malloc).failures, 2U);
}

TEST_F(StatisticsHeapTest, FollowsObjectsThatGrowAndMove) {
    StatisticsHeap<MmapHeap> heap;
    void* const object = heap.malloc(100);
    const std::size_t before = heap.statistics().liveBytes;
    EXPECT_EQ(before, heap.getSize(object));
    ASSERT_TRUE(heap.resize(object, 200));
    EXPECT_EQ(heap.statistics().liveBytes, heap.getSize(object));
    void* const moved = heap.relocate(object, 1 * MiB);
    ASSERT_NE(moved, nullptr);
    EXPECT_EQ(heap.statistics().liveBytes, heap.getSize(moved));
    EXPECT_EQ(heap.relocate(moved, ~std::size_t{0}), nullptr);
    EXPECT_EQ(heap.statistics().of(Verb::relocate).calls, 2U);
    EXPECT_EQ(heap.statistics().of(Verb::relocate).failures, 1U);
    EXPECT_EQ(heap.statistics().liveObjects, 1U);
    heap.free(moved);
    EXPECT_EQ(heap.statistics().liveBytes, 0U);
    void* const aligned = heap.memalign(4096, 10);
    heap.free(aligned);
    heap.free(heap.zalloc(10));
    EXPECT_EQ(heap.statistics().of(Verb::memalign).calls, 1U);
    EXPECT_EQ(heap.statistics().of(Verb::zalloc).calls, 1U);
}

TEST_F(StatisticsHeapTest, ClearLeavesNothingLiveAndThePastAsItWas) {
    StatisticsHeap<SizeHeap<ChunkHeap<4 * KiB, 8, CountingHeap>>> heap;
    static_cast<void>(heap.malloc(40));
    heap.clear();
    EXPECT_EQ(heap.statistics().liveObjects + heap.statistics().liveBytes, 0U);
    EXPECT_EQ(heap.statistics().peakObjects, 1U);
    EXPECT_EQ(heap.statistics().of(Verb::clear).calls, 1U);
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST_F(StatisticsHeapTest, CountsWhatIsHeldAndFlushed) {
    StatisticsHeap<FreelistHeap<SizeHeap<CountingHeap>>> heap;
    EXPECT_EQ(heap.mallocHeld(48), nullptr);
    heap.free(heap.malloc(48));
    EXPECT_TRUE(heap.flush());
    EXPECT_EQ(heap.statistics().of(Verb::mallocHeld).failures, 1U);
    EXPECT_EQ(heap.statistics().of(Verb::flush).calls, 1U);
    EXPECT_EQ(heap.statistics().of(Verb::flush).failures, 0U);
}

TEST(StatisticsHeapDeathTest, LeavesAWrongPointerToTheCheckBelow) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    StatisticsHeap<CheckedHeap<SizeHeap<CountingHeap>>> heap;
    alignas(16) unsigned char memory[64] = {};
    EXPECT_EXIT(heap.free(memory + 16), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: free\\(\\): invalid pointer\n");
}

} // namespace
} // namespace heapwright::testing

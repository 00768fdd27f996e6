// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/object/empty_object_heap.hpp>
#include <heapwright/layers/observe/live_map_heap.hpp>
#include <heapwright/layers/observe/tail_canary_heap.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>

#include <support/counting_heap.hpp>
#include <support/shown_heap.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <set>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

using Heap = EmptyObjectHeap<4 * KiB, CountingHeap>; // 256 addresses

class EmptyObjectHeapTest : public ::testing::Test {
protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        Ledger::begin();
    }
};
using EmptyObjectHeapDeathTest = EmptyObjectHeapTest;

TEST_F(EmptyObjectHeapTest, ServesZeroBytesWithAddressesOfTheirOwn) {
    Heap heap;
    std::set<void*> objects;
    for (int each = 0; each < 256; ++each) {
        void* const object = heap.malloc(0);
        EXPECT_TRUE(objects.insert(object).second);
        EXPECT_EQ(heap.getSize(object), 0U);
        EXPECT_EQ(addressOf(object) % minAlignment, 0U);
    }
    EXPECT_TRUE(Ledger::the().live.empty()) << "none is of the heap below";
    void* const one = heap.malloc(0);
    EXPECT_EQ(Ledger::the().live.count(one), 1U) << "no address is left";
    heap.free(one);
    heap.free(*objects.begin());
    EXPECT_EQ(heap.malloc(0), *objects.begin()) << "the only free one";
}

/// Serves every request at once.
class PromptHeap : public CountingHeap {
public:
    [[nodiscard]] void* mallocAtOnce(std::size_t size) noexcept { return malloc(size); }
};

TEST_F(EmptyObjectHeapTest, ServesNoEmptyObjectAtOnce) {
    EmptyObjectHeap<4 * KiB, PromptHeap> heap;
    static_assert(AtOnceHeap<EmptyObjectHeap<4 * KiB, PromptHeap>> && !AtOnceHeap<Heap>);
    EXPECT_EQ(heap.mallocAtOnce(0), nullptr);
    void* const object = heap.mallocAtOnce(1);
    EXPECT_EQ(Ledger::the().live.count(object), 1U);
    heap.free(object);
}

TEST_F(EmptyObjectHeapTest, ReusesAnAddressLate) {
    Heap heap;
    void* const first = heap.malloc(0);
    heap.free(first);
    for (int each = 0; each < 200; ++each) {
        void* const next = heap.malloc(0);
        EXPECT_NE(next, first);
        heap.free(next);
    }
}

TEST_F(EmptyObjectHeapTest, PassesOnAllOtherRequests) {
    Heap heap;
    void* const object = heap.malloc(1);
    EXPECT_EQ(Ledger::the().live.count(object), 1U);
    heap.free(object);
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST_F(EmptyObjectHeapTest, LeavesALargerAlignmentToTheHeapBelow) {
    EmptyObjectHeap<4 * KiB, MallocHeap> heap;
    void* const aligned = heap.memalign(64, 0);
    EXPECT_EQ(addressOf(aligned) % 64, 0U);
    EXPECT_NE(heap.getSize(aligned), 0U);
    heap.free(aligned);
}

TEST_F(EmptyObjectHeapTest, ServesThreadsAtOnce) {
    EmptyObjectHeap<64 * KiB, MallocHeap> heap;
    std::vector<std::vector<void*>> objects(4);
    std::vector<std::thread> threads;
    for (auto& mine : objects) {
        threads.emplace_back([&heap, &mine] {
            for (int each = 0; each < 1000; ++each) {
                mine.push_back(heap.malloc(0));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::set<void*> all;
    for (const auto& mine : objects) {
        all.insert(mine.begin(), mine.end());
    }
    EXPECT_EQ(all.size(), 4000U);
}

TEST_F(EmptyObjectHeapTest, ShowsLiveObjectsInAWalk) {
    EmptyObjectHeap<4 * KiB, ShownHeap> heap;
    void* const object = heap.malloc(0);
    void* const freed = heap.malloc(0);
    heap.free(freed);
    const auto shown = walked(heap);
    EXPECT_EQ(shown.at(object).size, 0U);
    EXPECT_EQ(shown.count(freed), 0U);
}

TEST_F(EmptyObjectHeapDeathTest, CannotBeAccessed) {
    Heap heap;
    auto* const object = static_cast<volatile unsigned char*>(heap.malloc(0));
    EXPECT_DEATH(*object = 1, "");
    EXPECT_DEATH(static_cast<void>(*object), "");
}

TEST_F(EmptyObjectHeapDeathTest, ChecksTheSizeOfASizedFree) {
    LiveMapHeap<EmptyObjectHeap<4 * KiB, TailCanaryHeap<CountingHeap>>> heap;
    void* const object = heap.malloc(0);
    heap.checkRequest(object, 0, 1, "free_sized");
    EXPECT_EXIT(heap.checkRequest(object, 1, 1, "free_sized"), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: free_sized\\(\\): the size is not the object's\n");
    heap.free(object);
    EXPECT_EXIT(heap.free(object), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: free\\(\\): double free\n");
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/observe/guard_sample_heap.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/counting_heap.hpp>
#include <support/shown_heap.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

using Heap = GuardSampleHeap<2, GuardEvery<1>, CountingHeap>; // six objects

/// Hides from the compiler what it would warn of.
volatile unsigned char* at(void* object, std::ptrdiff_t offset) {
    static volatile std::ptrdiff_t hidden = 0;
    hidden = offset;
    return static_cast<unsigned char*>(object) + hidden;
}

class GuardSampleHeapTest : public ::testing::Test {
protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        platform::prepareStacks();
        Ledger::begin();
    }
};
using GuardSampleHeapDeathTest = GuardSampleHeapTest;

TEST_F(GuardSampleHeapTest, PlacesOneOfNAndNoLargeObject) {
    GuardSampleHeap<2, GuardEvery<3>, CountingHeap> heap;
    for (int each = 0; each < 9; ++each) {
        static_cast<void>(heap.malloc(100));
    }
    EXPECT_EQ(Ledger::the().live.size(), 6U);
    for (int each = 0; each < 9; ++each) {
        static_cast<void>(heap.malloc(5000));
    }
    EXPECT_EQ(Ledger::the().live.size(), 15U);
}

TEST_F(GuardSampleHeapTest, PlacesNoneIfTheIntervalIsZero) {
    GuardSampleHeap<2, GuardEvery<0>, CountingHeap> heap;
    for (int each = 0; each < 9; ++each) {
        heap.free(heap.malloc(100));
    }
    EXPECT_EQ(Ledger::the().requests, 9U);
}

TEST_F(GuardSampleHeapTest, ServesObjectsOfAllSmallSizes) {
    Heap heap;
    for (std::size_t size = 1; size <= 4 * KiB; size += 13) {
        void* const object = heap.malloc(size);
        ASSERT_NE(object, nullptr);
        EXPECT_EQ(addressOf(object) % minAlignment, 0U);
        EXPECT_EQ(heap.getSize(object), size);
        for (std::size_t byte = 0; byte < size; ++byte) {
            ASSERT_EQ(*at(object, static_cast<std::ptrdiff_t>(byte)), 0U);
        }
        std::memset(object, 0xFF, size);
        heap.free(object);
    }
    EXPECT_EQ(Ledger::the().requests, 0U);
}

TEST_F(GuardSampleHeapTest, FallsBackWhenAllPagesAreLive) {
    Heap heap;
    std::vector<void*> objects;
    for (int each = 0; each < 10; ++each) {
        objects.push_back(heap.malloc(64));
    }
    EXPECT_EQ(Ledger::the().live.size(), 4U);
    EXPECT_EQ(std::set<void*>(objects.begin(), objects.end()).size(), 10U);
    for (void* const object : objects) {
        heap.free(object);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST_F(GuardSampleHeapDeathTest, StopsAccessesBeyondThePageAndAfterTheFree) {
    Heap heap;
    void* const atEnd = heap.malloc(64);
    void* const atStart = heap.malloc(64);
    EXPECT_DEATH(*at(atEnd, 64) = 1, "");
    EXPECT_DEATH(*at(atStart, -1) = 1, "");
    heap.free(atEnd);
    EXPECT_DEATH(static_cast<void>(*at(atEnd, 0)), "");
}

TEST_F(GuardSampleHeapDeathTest, ReportsAWrongFreeWithStacks) {
    Heap heap;
    void* const object = heap.malloc(64);
    EXPECT_EXIT(heap.free(forward(object, 16)), ::testing::KilledBySignal(SIGABRT),
                "sampled object of 64 bytes, address at byte 16\n  allocated by thread [0-9]+ "
                "at\n.*0x[0-9a-f]+.*  misused by thread [0-9]+ at\n.*0x[0-9a-f]+.*"
                "heapwright: free\\(\\): invalid pointer\n");
    heap.free(object);
    EXPECT_EXIT(heap.free(object), ::testing::KilledBySignal(SIGABRT),
                "allocated by thread.*0x.*  freed by thread.*0x.*  misused by thread.*0x.*"
                "heapwright: free\\(\\): double free\n");
    EXPECT_EXIT(static_cast<void>(heap.getSize(object)), ::testing::KilledBySignal(SIGABRT),
                "heapwright: malloc_usable_size\\(\\): use of a freed object\n");
}

TEST_F(GuardSampleHeapDeathTest, FindsAWriteBesideTheObjectAtTheFree) {
    Heap heap;
    void* const atEnd = heap.malloc(65); // up to 15 bytes behind it are on its page
    void* const atStart = heap.malloc(65);
    for (const std::ptrdiff_t byte : {-1, 65, 79}) {
        EXPECT_EXIT(
            {
                *at(atEnd, byte) = 1;
                heap.free(atEnd);
            },
            ::testing::KilledBySignal(SIGABRT),
            "heapwright: free\\(\\): overflow of a sampled object\n");
    }
    EXPECT_EXIT(
        {
            *at(atStart, 4000) = 1;
            heap.free(atStart);
        },
        ::testing::KilledBySignal(SIGABRT), "overflow of a sampled object\n");
    heap.free(atEnd);
    heap.free(atStart);
}

TEST_F(GuardSampleHeapTest, DescribesAnAddressForAHandler) {
    Heap heap;
    void* const object = heap.malloc(64);
    heap.free(object);
    ::testing::internal::CaptureStderr();
    EXPECT_TRUE(heap.describe(2, forward(object, 10)));
    EXPECT_FALSE(heap.describe(2, &heap));
    const std::string words = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(words.find("address at byte 10"), std::string::npos) << words;
    EXPECT_NE(words.find("  freed by thread"), std::string::npos) << words;
}

TEST_F(GuardSampleHeapTest, ServesThreadsAtOnce) {
    GuardSampleHeap<4, GuardEvery<2>, LockedHeap<FutexLock, MallocHeap>> heap;
    std::vector<std::thread> threads;
    for (unsigned char each = 1; each <= 4; ++each) {
        threads.emplace_back([&heap, each] {
            for (int turn = 0; turn < 300; ++turn) {
                auto* const object = static_cast<unsigned char*>(heap.malloc(100));
                std::memset(object, each, 100);
                std::this_thread::yield();
                EXPECT_EQ(object[99], each);
                heap.free(object);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

TEST_F(GuardSampleHeapTest, ShowsItsObjects) {
    GuardSampleHeap<2, GuardEvery<1>, ShownHeap> heap;
    void* const object = heap.malloc(64);
    heap.free(heap.malloc(32));
    const auto shown = walked(heap);
    ASSERT_EQ(shown.size(), 1U);
    EXPECT_EQ(shown.at(object).size, 64U);
    HeapSnapshot snapshot;
    heap.inspect(snapshot);
    EXPECT_EQ(snapshot.large.objects, 1U);
    EXPECT_EQ(snapshot.large.bytes, 64U);
}

} // namespace
} // namespace heapwright::testing

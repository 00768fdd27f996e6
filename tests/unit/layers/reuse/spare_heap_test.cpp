// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/reuse/spare_heap.hpp>

#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

using Chunks = LockedHeap<FutexLock, SizeHeap<CountingHeap>>;
using Spare = SpareHeap<FutexLock, 64 * KiB, Chunks>;

static_assert(ConcurrentHeap<Spare> && SizedHeap<Spare> && HoldingHeap<Spare>);
static_assert(FlushableHeap<Spare> && !ClearableHeap<Spare> && !TrimmableHeap<Spare>);

template <class Super>
constexpr bool composes = requires { typename SpareHeap<FutexLock, 64 * KiB, Super>; };
static_assert(composes<MallocHeap>);
static_assert(!composes<SizeHeap<CountingHeap>>); // one thread only

class SpareHeapTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (platform::poisons) {
            GTEST_SKIP() << "keeps nothing under the address sanitizer";
        }
        Ledger::begin();
    }
};

TEST_F(SpareHeapTest, TheChunkFreedLastServesTheNextRequestOfItsSize) {
    Spare heap;
    void* const first = heap.malloc(8000);
    void* const second = heap.malloc(8000);
    heap.free(first);
    heap.free(second);
    EXPECT_EQ(Ledger::the().live.size(), 2U);
    EXPECT_EQ(heap.malloc(8000), second);
    EXPECT_EQ(heap.malloc(7000), first);
    heap.free(first);
    EXPECT_NE(heap.malloc(8100), first);       // too small
    EXPECT_EQ(heap.mallocHeld(2000), nullptr); // too large by far
    EXPECT_EQ(heap.mallocHeld(8000), first);
}

TEST_F(SpareHeapTest, TheSmallAndTheVeryLargeGoBelow) {
    Spare heap;
    for (const std::size_t size : {100U, 1000U, 20'000U}) {
        heap.free(heap.malloc(size));
        EXPECT_TRUE(Ledger::the().live.empty()) << size;
    }
}

TEST_F(SpareHeapTest, KeepsNoMoreThanItsSum) {
    Spare heap;
    std::vector<void*> chunks;
    for (int i = 0; i < 20; ++i) {
        chunks.push_back(heap.malloc(8000));
    }
    for (void* const chunk : chunks) {
        heap.free(chunk);
    }
    EXPECT_EQ(Ledger::the().live.size(), 8U); // of 8 KB each, in 64 KiB
    EXPECT_TRUE(heap.flush());
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_FALSE(heap.flush());
}

TEST_F(SpareHeapTest, GivesEverythingBackAtItsEnd) {
    {
        Spare heap;
        heap.free(heap.malloc(8000));
        heap.free(heap.malloc(2000));
        EXPECT_EQ(Ledger::the().live.size(), 2U);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST_F(SpareHeapTest, ReturnsNullIfTheHeapBelowDoes) {
    Spare heap;
    void* const chunk = heap.malloc(8000);
    Ledger::the().refuse = Ledger::all;
    EXPECT_EQ(heap.malloc(8000), nullptr);
    EXPECT_EQ(heap.malloc(SIZE_MAX), nullptr);
    heap.free(chunk);
    EXPECT_EQ(heap.malloc(8000), chunk);
    heap.free(chunk);
}

/// One thread is inside for ever, as in the child of a fork.
struct TakenLock {
    void lock() {}
    [[nodiscard]] bool tryLock() { return false; }
    void unlock() {}
    void reset() {}
    [[nodiscard]] bool heldByThisThread() const { return false; }
};

TEST_F(SpareHeapTest, FreesToTheHeapBelowIfItsLockIsTaken) {
    SpareHeap<TakenLock, 64 * KiB, Chunks> heap;
    void* const chunk = heap.malloc(8000);
    ASSERT_NE(chunk, nullptr);
    heap.free(chunk);
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST_F(SpareHeapTest, ThreadsShareIt) {
    SpareHeap<FutexLock, 256 * KiB, MallocHeap> heap;
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&heap, &wrong, thread] {
            for (std::size_t i = 0; i < 5000; ++i) {
                const std::size_t size = 1000 + i % 9000;
                auto* const chunk = static_cast<unsigned char*>(heap.malloc(size));
                std::memset(chunk, thread, size);
                std::this_thread::yield();
                wrong += chunk[0] == thread && chunk[size - 1] == thread ? 0 : 1;
                heap.free(chunk);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace heapwright::testing

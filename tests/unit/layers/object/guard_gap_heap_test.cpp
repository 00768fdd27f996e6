// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/aligned_block_heap.hpp>
#include <heapwright/layers/object/guard_gap_heap.hpp>
#include <heapwright/layers/source/extent_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/extent_ledger.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

using Blocks = AlignedBlockHeap<64 * KiB, 1 * MiB, MmapHeap>;
template <std::size_t Wait, std::size_t Most>
using Guarded = GuardGapHeap<32 * KiB, Wait, Most, FutexLock, Blocks>;
using Heap = Guarded<0, 1024>;

unsigned char* bytesOf(void* object) {
    return static_cast<unsigned char*>(object);
}

/// Hides from the compiler what it would warn of.
volatile unsigned char* at(void* object, std::ptrdiff_t offset) {
    static thread_local volatile std::ptrdiff_t hidden = 0;
    hidden = offset;
    return bytesOf(object) + hidden;
}

class GuardGapHeapTest : public ::testing::Test {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
using GuardGapHeapDeathTest = GuardGapHeapTest;

TEST_F(GuardGapHeapTest, TakesTheGapOffTheBlocks) {
    static_assert(Heap::blockSize == 32 * KiB && Heap::alignment == 64 * KiB);
    Heap heap;
    void* const block = heap.malloc(32 * KiB);
    EXPECT_EQ(heap.getSize(block), 32 * KiB);
    EXPECT_EQ(addressOf(block) % (64 * KiB), 0U);
    std::memset(block, 1, 32 * KiB);
    EXPECT_EQ(heap.malloc(32 * KiB + 1), nullptr);
    EXPECT_EQ(heap.malloc(SIZE_MAX - 100), nullptr);
    heap.free(block);
}

TEST_F(GuardGapHeapDeathTest, FaultsBehindABlock) {
    Heap heap;
    void* const block = heap.malloc(1);
    void* const next = heap.malloc(1);
    EXPECT_DEATH(*at(block, 32 * KiB) = 1, "");
    EXPECT_DEATH(static_cast<void>(*at(block, 64 * KiB - 1)), "");
    EXPECT_DEATH(*at(next, -1) = 1, "");
    heap.free(block);
    heap.free(next);
}

TEST_F(GuardGapHeapDeathTest, FaultsInAFreedRunInQuarantine) {
    Guarded<128 * KiB, 1024> heap;
    void* const other = heap.malloc(1); // with nothing in use all would return to the system
    void* const block = heap.malloc(1);
    heap.free(block);
    EXPECT_DEATH(*at(block, 0) = 1, "");
    EXPECT_DEATH(static_cast<void>(*at(block, 100)), "");
    EXPECT_TRUE(heap.flush());
    EXPECT_FALSE(heap.flush());
    void* const again = heap.malloc(1);
    EXPECT_EQ(again, block);
    *at(again, 0) = 1;
    heap.free(again);
    heap.free(other);
}

TEST_F(GuardGapHeapTest, DoesNotReuseARunInQuarantine) {
    Guarded<256 * KiB, 1024> heap; // four blocks
    std::vector<void*> freed;
    for (int each = 0; each < 12; ++each) {
        void* const block = heap.malloc(1);
        for (std::size_t back = 1; back <= 4 && back <= freed.size(); ++back) {
            EXPECT_NE(block, freed[freed.size() - back]);
        }
        EXPECT_EQ(*at(block, 0), 0U) << "its memory has been given back";
        *at(block, 0) = 1;
        heap.free(block);
        freed.push_back(block);
    }
}

TEST_F(GuardGapHeapTest, ReleasesTheMemoryOfRunsThatDoNotWait) {
    Heap heap;
    void* const other = heap.malloc(1); // an unused chunk would be unmapped
    void* const block = heap.malloc(1);
    std::memset(block, 1, 32 * KiB);
    heap.free(block);
    void* const again = heap.malloc(1);
    ASSERT_EQ(again, block);
    EXPECT_EQ(*at(again, 0), 0U);
    EXPECT_EQ(*at(again, 32 * KiB - 1), 0U);
    heap.free(again);
    heap.free(other);
}

TEST_F(GuardGapHeapTest, ReleasesThePagesBeyondTheEndOfARunThatShrinks) {
    using Runs = ExtentHeap<32 * KiB, FutexLock, PurgeAfter<250>, SystemExtents>;
    GuardGapHeap<32 * KiB, 0, 1024, FutexLock, Runs> heap;
    void* const run = heap.malloc(128 * KiB);
    std::memset(run, 1, 128 * KiB);
    EXPECT_TRUE(heap.resize(run, 40 * KiB - 100));
    EXPECT_EQ(*at(run, 40 * KiB - 101), 1U);
    EXPECT_EQ(*at(run, 40 * KiB), 0U) << "the first page beyond the end";
    EXPECT_TRUE(heap.resize(run, 128 * KiB)) << "the addresses were kept";
    EXPECT_EQ(*at(run, 128 * KiB - 1), 0U);
    EXPECT_FALSE(heap.resize(run, 20 * KiB)) << "too much would stay";
    heap.free(run);
}

TEST_F(GuardGapHeapTest, LeavesTheGapOpenWhereTooManyAreClosed) {
    Guarded<0, 2> heap;
    std::vector<void*> blocks;
    for (int each = 0; each < 4; ++each) {
        blocks.push_back(heap.malloc(1));
    }
    EXPECT_DEATH(*at(blocks[1], 32 * KiB) = 1, "");
    *at(blocks[2], 32 * KiB) = 1; // without an owner
    heap.free(blocks[0]);
    blocks[0] = heap.malloc(1);
    EXPECT_DEATH(*at(blocks[0], 32 * KiB) = 1, "");
    for (void* const block : blocks) {
        heap.free(block);
    }
}

TEST_F(GuardGapHeapTest, ReturnsAllRunsAccessible) {
    Heap* const heap = new Heap;
    std::vector<void*> blocks;
    for (int each = 0; each < 40; ++each) {
        blocks.push_back(heap->malloc(1));
    }
    heap->clear();
    for (int each = 0; each < 40; ++each) {
        std::memset(heap->malloc(1), 1, 32 * KiB);
    }
    delete heap;
}

TEST_F(GuardGapHeapTest, IsAsConcurrentAsTheHeapBelow) {
    using Shared = GuardGapHeap<32 * KiB, 1 * MiB, 100, FutexLock, LockedHeap<FutexLock, Blocks>>;
    static_assert(ConcurrentHeap<Shared> && !ConcurrentHeap<Heap>);
    static constinit Shared heap;
    std::vector<std::thread> threads;
    std::atomic<int> whole{0};
    for (int each = 0; each < 4; ++each) {
        threads.emplace_back([&whole, each] {
            for (int round = 0; round < 300; ++round) {
                void* const block = heap.malloc(32 * KiB);
                std::memset(block, each, 32 * KiB);
                whole += heap.getSize(block) == 32 * KiB && *at(block, 77) == each ? 1 : 0;
                heap.free(block);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(whole, 4 * 300);
}

using Extents = ExtentHeap<32 * KiB, FutexLock, SetDelay, LedgerExtents>;
using OverRuns = GuardGapHeap<32 * KiB, 1 * MiB, 1024, FutexLock, Extents>;
static_assert(InspectableHeap<OverRuns> && PurgeableHeap<OverRuns> && !InspectableHeap<Heap>);

TEST_F(GuardGapHeapTest, ShowsRunsInUseWithoutTheirGapsAndNoneThatWait) {
    ExtentLedger::begin();
    OverRuns heap;
    void* const kept = heap.malloc(40 * KiB);
    void* const freed = heap.malloc(40 * KiB);
    heap.free(freed);
    std::vector<void*> shown;
    heap.beforeFork();
    heap.forEachRun([&](void* run, std::size_t bytes, bool) {
        std::memset(run, 1, bytes); // all of it may be touched
        EXPECT_EQ(bytes, 64 * KiB);
        shown.push_back(run);
    });
    heap.afterForkInParent();
    EXPECT_EQ(shown, (std::vector<void*>{kept}));
    HeapSnapshot snapshot;
    heap.inspect(snapshot);
    EXPECT_EQ(snapshot.source.usedBytes, 2 * 96 * KiB) << "what waits is not free";
    heap.free(kept);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/layers/thread/pho_thread_heap.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/counting_heap.hpp>
#include <support/other_thread.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace heapwright::testing {
namespace {

using Private = LockedHeap<FutexLock, FreelistHeap<CountingHeap>>;
using Heap4 = PHOThreadHeap<4, Private>;
using Mapping = PHOThreadHeap<2, LockedHeap<FutexLock, MmapHeap>>;

TEST(PHOThreadHeap, ReturnsMemoryToTheHeapItCameFrom) {
    Ledger::begin();
    {
        Heap4 heap;
        void* const object = heap.malloc(32);
        EXPECT_EQ(addressOf(object) % 16, 0U);
        EXPECT_GE(heap.getSize(object), 32U);
        elsewhere(4, [&] {
            heap.free(object);
            void* const other = heap.malloc(32);
            EXPECT_NE(other, object) << "it is not this thread's";
            heap.free(other);
        });
        EXPECT_EQ(heap.malloc(32), object) << "it has come back";
        EXPECT_EQ(Ledger::the().requests, 2U);
        heap.free(object);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(PHOThreadHeap, DoesNotBlowUpWhereOneThreadAllocatesAndAnotherFrees) {
    Ledger::begin();
    Heap4 heap;
    std::vector<void*> objects(10);
    for (int round = 0; round < 5; ++round) {
        for (void*& object : objects) {
            object = heap.malloc(32);
        }
        elsewhere(4, [&] {
            for (void* const object : objects) {
                heap.free(object);
            }
        });
    }
    EXPECT_EQ(Ledger::the().live.size(), objects.size());
}

TEST(PHOThreadHeap, AlignsResizesAndMovesWithItsHeader) {
    Mapping heap;
    for (const std::size_t align : {8U, 16U, 64U, 4096U, 65536U}) {
        auto* object = static_cast<unsigned char*>(heap.memalign(align, 5000));
        ASSERT_NE(object, nullptr);
        EXPECT_EQ(addressOf(object) % align, 0U);
        EXPECT_GE(heap.getSize(object), 5000U);
        object[4999] = 9;
        EXPECT_TRUE(heap.resize(object, 4500)) << align;
        EXPECT_GE(heap.getSize(object), 4500U);
        elsewhere(2, [&] { heap.free(object); });
    }
    auto* object = static_cast<unsigned char*>(heap.zalloc(10'000));
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(object[0] + object[9999], 0);
    object[9999] = 7;
    auto* const moved = static_cast<unsigned char*>(heap.relocate(object, 1'000'000));
    ASSERT_NE(moved, nullptr);
    EXPECT_EQ(moved[9999], 7);
    EXPECT_GE(heap.getSize(moved), 1'000'000U);
    heap.free(moved);
    void* const aligned = heap.memalign(4096, 100);
    EXPECT_EQ(heap.relocate(aligned, 1'000'000), nullptr) << "its alignment would be lost";
    heap.free(aligned);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.mapped, 0U);
}

TEST(PHOThreadHeap, RefusesSizesThatItsHeaderMakesOverflow) {
    Mapping heap;
    const volatile std::size_t huge = SIZE_MAX - 8;
    EXPECT_EQ(heap.malloc(huge), nullptr);
    EXPECT_EQ(heap.memalign(64, huge), nullptr);
    void* const object = heap.malloc(10);
    EXPECT_FALSE(heap.resize(object, huge));
    EXPECT_EQ(heap.relocate(object, huge), nullptr);
    heap.free(object);
}

TEST(PHOThreadHeapDeathTest, AbortsOnAnObjectOfAnotherHeap) {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    Heap4 heap;
    alignas(16) unsigned char memory[64] = {};
    void* const object = heap.malloc(32);
    EXPECT_DEATH(heap.free(memory + 32), "heapwright: free\\(\\): invalid pointer");
    EXPECT_DEATH(heap.free(forward(object, 8)), "heapwright: free\\(\\): invalid pointer");
    heap.free(object);
    // Or AddressSanitizer reports it, because the list below has marked the object's memory.
    EXPECT_DEATH(heap.free(object), "heapwright: free\\(\\): double free|use-after-poison");
    EXPECT_DEATH((void)heap.getSize(object),
                 "heapwright: malloc_usable_size\\(\\): use of a freed object|use-after-poison");
}

TEST(PHOThreadHeap, HasTheVerbsOfTheHeapBelowAndNoMore) {
    EXPECT_TRUE(ConcurrentHeap<Heap4> && SizedHeap<Heap4> && ForkableHeap<Heap4>);
    EXPECT_FALSE(AlignedHeap<Heap4> || ClearableHeap<Heap4> || ForeignFreeHeap<Heap4>);
    EXPECT_TRUE(AlignedHeap<Mapping> && ZeroingHeap<Mapping> && RelocatingHeap<Mapping>);
}

} // namespace
} // namespace heapwright::testing

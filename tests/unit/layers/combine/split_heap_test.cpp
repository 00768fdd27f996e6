// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/aligned_block_heap.hpp>
#include <heapwright/layers/carve/superblock_heap.hpp>
#include <heapwright/layers/combine/split_heap.hpp>
#include <heapwright/layers/object/checked_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heapwright::testing {
namespace {

using Classes = GeometricSlots<6, 5, 16, 2 * KiB>;
using Small = SuperblockHeap<Classes, AlignedBlockHeap<4 * KiB, 1 * MiB, MmapHeap>>;
using Split = SplitHeap<1 * KiB, Small, CountingHeap>;
using Mapped = SplitHeap<1 * KiB, Small, CheckedHeap<MmapHeap>>;
using Starved =
    SplitHeap<1 * KiB, SuperblockHeap<Classes, AlignedBlockHeap<4 * KiB, 1 * MiB, CountingHeap>>,
              MmapHeap>;

TEST(SplitHeap, AsksForLargeOnesBelow) {
    Ledger::begin();
    {
        Split heap;
        void* const small = heap.malloc(1 * KiB);
        EXPECT_EQ(Ledger::the().requests, 0U);
        void* const large = heap.malloc(1 * KiB + 1);
        EXPECT_EQ(Ledger::the().requests, 1U);
        EXPECT_EQ(heap.getSize(large), 1 * KiB + 1);
        EXPECT_GE(heap.getSize(small), 1 * KiB);
        heap.free(small);
        heap.free(large);
        EXPECT_EQ(Ledger::the().wrongFrees, 0U);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(SplitHeap, AsksBelowWhereTheSmallHeapHasNothing) {
    Ledger::begin(Ledger::all);
    Starved heap;
    void* const object = heap.malloc(16);
    ASSERT_NE(object, nullptr);
    EXPECT_GE(Ledger::the().requests, 1U);
    void* const aligned = heap.memalign(64, 16);
    EXPECT_EQ(addressOf(aligned) % 64, 0U);
    heap.free(aligned);
    heap.free(object);
}

TEST(SplitHeap, AlignsWhereThereIsRoom) {
    Mapped heap;
    for (std::size_t align = 16; align <= 1 * MiB; align *= 2) {
        for (const std::size_t size : {1U, 600U, 1024U, 5000U}) {
            void* const object = heap.memalign(align, size);
            ASSERT_NE(object, nullptr);
            EXPECT_EQ(addressOf(object) % align, 0U);
            EXPECT_GE(heap.getSize(object), size);
            heap.free(object);
        }
    }
}

TEST(SplitHeap, KeepsSmallAndLargeApartWhenTheyAreResized) {
    Mapped heap;
    void* const small = heap.malloc(100);
    void* const large = heap.malloc(100'000);
    EXPECT_TRUE(heap.resize(small, 112));
    EXPECT_FALSE(heap.resize(small, 5000));
    EXPECT_FALSE(heap.resize(large, 100));
    EXPECT_TRUE(heap.resize(large, 50'000));
    EXPECT_EQ(heap.relocate(small, 5000), nullptr);
    EXPECT_EQ(heap.relocate(large, 100), nullptr);
    void* const moved = heap.relocate(large, 300'000);
    ASSERT_NE(moved, nullptr);
    EXPECT_GE(heap.getSize(moved), 300'000U);
    heap.free(moved);
    heap.free(small);
}

TEST(SplitHeap, ClearsObjectsOfZalloc) {
    Mapped heap;
    void* const dirty = heap.malloc(64);
    std::memset(dirty, 0xFF, 64);
    heap.free(dirty);
    for (const std::size_t size : {64U, 5000U}) {
        const auto* const bytes = static_cast<unsigned char*>(heap.zalloc(size));
        for (std::size_t at = 0; at < size; ++at) {
            ASSERT_EQ(bytes[at], 0);
        }
    }
}

TEST(SplitHeapDeathTest, ReportsAnInvalidPointer) {
    Mapped heap;
    alignas(16) char array[64] = {};
    void* const small = heap.malloc(100);
    EXPECT_DEATH(heap.free(array + 32), "heapwright: free\\(\\): invalid pointer\n");
    EXPECT_DEATH(heap.check(forward(small, 16), "here"),
                 "heapwright: here\\(\\): invalid pointer\n");
    EXPECT_DEATH([[maybe_unused]] const bool done = heap.resize(array + 32, 10),
                 "heapwright: realloc\\(\\): invalid pointer\n");
}

} // namespace
} // namespace heapwright::testing

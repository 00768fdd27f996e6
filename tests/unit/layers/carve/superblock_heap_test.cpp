// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/aligned_block_heap.hpp>
#include <heapwright/layers/carve/superblock_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heapwright::testing {
namespace {

using Classes = GeometricSlots<6, 5, 16, 2 * KiB>;
using Counted = SuperblockHeap<Classes, AlignedBlockHeap<4 * KiB, 1 * MiB, CountingHeap>>;
using Mapped = SuperblockHeap<Classes, AlignedBlockHeap<4 * KiB, 1 * MiB, MmapHeap>>;

TEST(SuperblockHeap, HasNothingForALargerRequest) {
    Ledger::begin();
    Counted heap;
    EXPECT_EQ(heap.malloc(2 * KiB + 1), nullptr);
    EXPECT_EQ(heap.malloc(SIZE_MAX), nullptr);
    EXPECT_EQ(heap.memalign(4 * KiB, 1), nullptr);
    EXPECT_EQ(Ledger::the().requests, 0U);
    EXPECT_NE(heap.malloc(2 * KiB), nullptr);
}

TEST(SuperblockHeap, FillsOneSuperblockBeforeTheNext) {
    Mapped heap;
    void* const first = heap.malloc(48);
    const std::size_t count = Mapped::Block::of(first).count();
    for (std::size_t i = 1; i < count; ++i) {
        ASSERT_EQ(roundDown(addressOf(heap.malloc(40)), 4 * KiB),
                  roundDown(addressOf(first), 4 * KiB));
    }
    EXPECT_NE(roundDown(addressOf(heap.malloc(48)), 4 * KiB), roundDown(addressOf(first), 4 * KiB));
}

TEST(SuperblockHeap, GivesAnEmptySuperblockToAnotherClass) {
    Ledger::begin();
    Counted heap;
    void* const object = heap.malloc(16);
    heap.free(object);
    void* const other = heap.malloc(1000);
    EXPECT_EQ(roundDown(addressOf(object), 4 * KiB), roundDown(addressOf(other), 4 * KiB));
    EXPECT_GE(heap.getSize(other), 1000U);
    EXPECT_EQ(Ledger::the().requests, 1U);
}

TEST(SuperblockHeap, HoldsNothingOfAnotherClassThatIsUsed) {
    Ledger::begin();
    Counted heap;
    [[maybe_unused]] void* const object = heap.malloc(16);
    EXPECT_EQ(heap.mallocHeld(1000), nullptr);
    EXPECT_NE(heap.mallocHeld(16), nullptr);
    EXPECT_EQ(Ledger::the().requests, 1U);
}

TEST(SuperblockHeap, ResizesWithinASlotOnly) {
    Mapped heap;
    void* const object = heap.malloc(100);
    EXPECT_TRUE(heap.resize(object, 112));
    EXPECT_FALSE(heap.resize(object, 113));
    EXPECT_TRUE(heap.resize(object, 57));
    EXPECT_FALSE(heap.resize(object, 20)) << "half of it would be lost";
}

TEST(SuperblockHeap, HandsSuperblocksOverWithAllTheirObjects) {
    Mapped one;
    Mapped other;
    EXPECT_EQ(one.handOver(), nullptr);
    void* const object = one.malloc(64);
    EXPECT_EQ(one.handOver(), nullptr) << "none is empty";
    const std::size_t index = Classes::classFor(64);
    EXPECT_EQ(one.handOver(index + 1), nullptr);
    Mapped::Block* const block = one.handOver(index);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(one.mallocHeld(64), nullptr);
    other.takeOver(*block);
    EXPECT_EQ(other.getSize(object), 64U);
    EXPECT_NE(other.mallocHeld(64), nullptr);
    other.free(object);
}

TEST(SuperblockHeap, ReturnsEmptySuperblocks) {
    Mapped heap;
    std::vector<void*> objects;
    for (int i = 0; i < 3000; ++i) {
        objects.push_back(heap.malloc(1000));
    }
    EXPECT_FALSE(heap.flush());
    for (void* const object : objects) {
        heap.free(object);
    }
    EXPECT_TRUE(heap.trim(0));
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.mapped, 0U);
}

TEST(SuperblockHeapDeathTest, ReportsAnInvalidPointer) {
    Mapped heap;
    Mapped other;
    void* const object = heap.malloc(100);
    EXPECT_DEATH(heap.free(forward(object, 16)), "heapwright: free\\(\\): invalid pointer\n");
    EXPECT_DEATH(other.free(object), "heapwright: free\\(\\): invalid pointer\n");
    EXPECT_DEATH([[maybe_unused]] const std::size_t size = heap.getSize(forward(object, 16)),
                 "heapwright: malloc_usable_size\\(\\): invalid pointer\n");
    heap.free(object);
    EXPECT_DEATH(heap.free(object), "heapwright: free\\(\\): double free\n");
    EXPECT_DEATH([[maybe_unused]] const bool done = heap.resize(object, 1),
                 "heapwright: realloc\\(\\): use of a freed object\n");
    [[maybe_unused]] void* const another = heap.malloc(2000);
    EXPECT_DEATH(
        {
            heap.flush(); // now its superblock has no owner, but for another its chunk is kept
            heap.free(object);
        },
        "heapwright: free\\(\\): invalid pointer\n");
}

} // namespace
} // namespace heapwright::testing

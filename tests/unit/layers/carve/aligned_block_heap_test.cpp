// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/aligned_block_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/structure/superblock/superblock.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace heapwright::testing {
namespace {

using Blocks = AlignedBlockHeap<64 * KiB, 1 * MiB, CountingHeap>;
using Mapped = AlignedBlockHeap<8 * KiB, 1 * MiB, MmapHeap>;

TEST(AlignedBlockHeap, CutsAlignedBlocksOutOfAChunk) {
    Ledger::begin();
    {
        Blocks heap;
        std::set<void*> blocks;
        for (int i = 0; i < 15; ++i) {
            void* const block = heap.malloc(64 * KiB);
            EXPECT_EQ(addressOf(block) % (64 * KiB), 0U);
            std::memset(block, 1, 64 * KiB);
            blocks.insert(block);
        }
        EXPECT_EQ(blocks.size(), 15U);
        EXPECT_EQ(Ledger::the().requests, 1U);
        EXPECT_EQ(heap.mallocHeld(1), nullptr);
        blocks.insert(heap.malloc(1));
        EXPECT_EQ(blocks.size(), 16U);
        EXPECT_EQ(Ledger::the().requests, 2U);
    }
    EXPECT_TRUE(Ledger::the().live.empty()) << "with all blocks out";
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(AlignedBlockHeap, HasNothingForALargerRequest) {
    Ledger::begin();
    Blocks heap;
    EXPECT_EQ(heap.malloc(64 * KiB + 1), nullptr);
    EXPECT_EQ(heap.malloc(SIZE_MAX), nullptr);
    EXPECT_EQ(Ledger::the().requests, 0U);
}

TEST(AlignedBlockHeap, OwnsItsChunksAndNothingElse) {
    Mapped heap;
    int variable = 0;
    EXPECT_FALSE(heap.owns(&variable));
    void* const block = heap.malloc(8 * KiB);
    EXPECT_TRUE(heap.owns(block));
    EXPECT_TRUE(heap.owns(forward(block, 8 * KiB - 1)));
    EXPECT_FALSE(heap.owns(&variable));
    EXPECT_FALSE(heap.owns(nullptr));
    EXPECT_FALSE(heap.owns(pointerTo(~Address{0})));
    Mapped other;
    EXPECT_FALSE(other.owns(block));
    heap.free(block);
    EXPECT_TRUE(heap.trim(0));
    EXPECT_FALSE(heap.owns(block));
}

TEST(AlignedBlockHeap, LeavesFreeBlocksAsTheyWere) {
    Mapped heap;
    void* const block = heap.malloc(8 * KiB);
    std::memset(block, 0xAB, 8 * KiB);
    heap.free(block);
    const auto* const bytes = static_cast<unsigned char*>(block);
    for (std::size_t at = 0; at < 8 * KiB; ++at) {
        ASSERT_EQ(bytes[at], 0xAB);
    }
    EXPECT_EQ(heap.malloc(1), block);
}

TEST(AlignedBlockHeap, ReturnsEmptyChunksWhenItIsTrimmed) {
    Mapped heap;
    std::vector<void*> blocks;
    for (int i = 0; i < 300; ++i) {
        blocks.push_back(heap.malloc(8 * KiB));
    }
    MemoryUsage full;
    heap.measure(full);
    EXPECT_GE(full.mapped, 3 * MiB);
    EXPECT_FALSE(heap.trim(0));
    for (std::size_t i = 1; i < blocks.size(); ++i) {
        heap.free(blocks[i]);
    }
    EXPECT_FALSE(heap.trim(2 * MiB));
    EXPECT_TRUE(heap.trim(1 * MiB));
    MemoryUsage some;
    heap.measure(some);
    EXPECT_LT(some.mapped, 2 * MiB + 64 * KiB);
    EXPECT_TRUE(heap.flush());
    MemoryUsage least;
    heap.measure(least);
    EXPECT_LT(least.mapped, 1 * MiB + 64 * KiB);
    EXPECT_EQ(least.held, 126 * 8 * KiB);
}

TEST(AlignedBlockHeap, ServesAgainAfterTheHeapBelowReturnedNull) {
    for (std::size_t refuse = 1; refuse <= 3; ++refuse) {
        Ledger::begin(refuse);
        {
            Blocks heap;
            std::set<void*> blocks;
            for (int i = 0; i < 40; ++i) {
                if (void* const block = heap.malloc(1)) {
                    blocks.insert(block);
                }
            }
            EXPECT_EQ(blocks.size(), 39U);
        }
        EXPECT_TRUE(Ledger::the().live.empty());
    }
}

static_assert(BlockHeap<Mapped> && BlockHeap<Blocks> && !BlockHeap<MmapHeap>);

} // namespace
} // namespace heapwright::testing

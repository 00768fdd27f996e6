// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/extent/extent_memory.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/extent_ledger.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

constexpr std::size_t unit = 32 * KiB;

/// The memory of a heap, which unmaps its chunks at the end.
template <class Rule>
struct MemoryUnder : ExtentMemory<unit, FutexLock, Rule, LedgerExtents> {
    ~MemoryUnder() {
        while (auto* const chunk = this->space.removeAny()) {
            this->unmap(*chunk);
        }
    }
};
using Memory = MemoryUnder<SetDelay>;

class ExtentMemoryTest : public ::testing::Test {
protected:
    void SetUp() override { ExtentLedger::begin(); }
    void TearDown() override { EXPECT_EQ(ExtentLedger::the().mapped(), 0U); }
};

TEST_F(ExtentMemoryTest, ChunksGrowWithTheMemoryInUse) {
    Memory memory;
    EXPECT_EQ(memory.usualUnits(), 4 * MiB / unit);
    std::size_t before = 0;
    while (memory.mappedBytes() < 200 * MiB) {
        const std::size_t units = memory.usualUnits();
        EXPECT_GE(units, before);
        EXPECT_LE(units * unit, 32 * MiB);
        EXPECT_LE(units * unit, 4 * MiB + memory.mappedBytes() / 4);
        before = units;
        ASSERT_TRUE(memory.addChunk(1, units));
    }
    EXPECT_EQ(before * unit, 32 * MiB);
}

TEST_F(ExtentMemoryTest, TakesASmallerChunkIfALargeOneIsRefused) {
    Memory memory;
    ExtentLedger::the().refuse = 1;
    EXPECT_TRUE(memory.addChunk(20, 128));
    EXPECT_EQ(ExtentLedger::the().mapped(), 1 * MiB);
    ExtentLedger::the().refuse = ExtentLedger::all;
    EXPECT_FALSE(memory.addChunk(20, 128));
    ExtentLedger::the().refuse = 0;
}

TEST_F(ExtentMemoryTest, FindsAChunkFromAnyAddressInIt) {
    Memory memory;
    Memory::Chunk* const chunk = memory.addSingle(1000, 1, 0);
    ASSERT_NE(chunk, nullptr);
    EXPECT_EQ(addressOf(chunk) % (2 * MiB), 0U);
    for (std::size_t at = 0; at < 1000 * unit; at += 300000) {
        ASSERT_EQ(&Memory::chunkOf(forward(chunk, at)), chunk);
    }
    Memory::Chunk* const moved = memory.moveSingle(*chunk, 3000, 100);
    ASSERT_NE(moved, nullptr);
    EXPECT_EQ(&Memory::chunkOf(moved->at(2999)), moved);
    EXPECT_EQ(RegionMap::ownerOf(chunk), nullptr);
    EXPECT_GE(moved->units, 3100U);
}

TEST_F(ExtentMemoryTest, StaysAsItWasWhereAMoveIsRefused) {
    Memory memory;
    Memory::Chunk* const chunk = memory.addSingle(1000, 1, 0);
    const std::size_t mapped = ExtentLedger::the().mapped();
    for (std::size_t refuse = 1; refuse <= 2; ++refuse) {
        ExtentLedger::the().calls = 0;
        ExtentLedger::the().refuse = refuse;
        const bool done = memory.moveSingle(*chunk, 3000, 0) != nullptr;
        EXPECT_FALSE(done) << refuse;
        EXPECT_EQ(ExtentLedger::the().mapped(), mapped);
        EXPECT_EQ(&Memory::chunkOf(chunk->at(900)), chunk);
        EXPECT_EQ(memory.space.singleCount(), 1U);
    }
    ExtentLedger::the().refuse = 0;
}

} // namespace
} // namespace heapwright::testing

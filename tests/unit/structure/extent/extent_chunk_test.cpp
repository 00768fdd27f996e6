// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/extent/extent_chunk.hpp>

#include <gtest/gtest.h>

#include <memory>

namespace heapwright::testing {
namespace {

using Chunk = ExtentChunk<32 * KiB>;

static_assert(sizeof(Chunk) <= 8 * KiB && Chunk::most * 32 * KiB == 32 * MiB);
static_assert(sizeof(ExtentChunk<16 * KiB>) <= 16 * KiB &&
              sizeof(ExtentChunk<64 * KiB>) <= 4 * KiB);

TEST(ExtentChunk, MergesWhatIsGivenAndForgetsWhatIsTaken) {
    const auto chunk = std::make_unique<Chunk>();
    chunk->units = 100;
    chunk->give(1, 99);
    EXPECT_TRUE(chunk->isEmpty());
    EXPECT_EQ(chunk->longest, 99U);
    chunk->take(1, 30);
    EXPECT_FALSE(chunk->isEmpty());
    chunk->longest = 69;
    chunk->giveDirty(5, 4, 1000);
    EXPECT_EQ(chunk->longest, 69U);
    EXPECT_EQ(chunk->dirtyUnits, 4U);
    EXPECT_EQ(chunk->oldest, 1000U);
    chunk->giveDirty(20, 11, 1050);
    EXPECT_EQ(chunk->longest, 80U) << "with what is free behind";
    EXPECT_EQ(chunk->dirtyUnits, 15U);
    EXPECT_EQ(chunk->oldest, 1000U);
    EXPECT_EQ(chunk->ageAt(5, 1060), 60U);
    EXPECT_EQ(chunk->ageAt(30, 1060), 10U);
    chunk->take(8, 1);
    EXPECT_EQ(chunk->dirtyUnits, 14U);
    EXPECT_FALSE(chunk->free.has(8));
    EXPECT_FALSE(chunk->dirty.has(8));
}

TEST(ExtentChunk, SaysThatNoObjectStartsInItsFirstUnit) {
    const auto chunk = std::make_unique<Chunk>();
    EXPECT_EQ(*reinterpret_cast<const OwnerTag*>(chunk.get()), noOwnerTag);
    EXPECT_EQ(chunk->indexOf(chunk->at(7)), 7U);
    EXPECT_EQ(chunk->indexOf(forward(chunk->at(7), 32 * KiB - 1)), 7U);
}

} // namespace
} // namespace heapwright::testing

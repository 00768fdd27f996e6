// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/extent/extent_space.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <vector>

namespace heapwright::testing {
namespace {

using Space = ExtentSpace<32 * KiB>;
using Chunk = Space::Chunk;
using Units = Space::Run;

/// Chunks without the memory that they speak of, which a space never touches.
class ExtentSpaceTest : public ::testing::Test {
protected:
    Chunk& add(std::size_t units, std::size_t touchedEnd = 1) {
        chunks_.push_back(std::make_unique<Chunk>());
        chunks_.back()->units = units;
        space.add(*chunks_.back(), touchedEnd, 0);
        return *chunks_.back();
    }
    Units take(std::size_t count) { return space.allocate(count, 1, 0, nullptr); }

    Space space;

private:
    std::vector<std::unique_ptr<Chunk>> chunks_;
};

TEST_F(ExtentSpaceTest, TakesTheChunkWithTheShortestSufficientRun) {
    Chunk& small = add(11);
    Chunk& large = add(101);
    EXPECT_EQ(take(10).chunk, &small);
    EXPECT_EQ(take(10).chunk, &large);
    EXPECT_EQ(take(91).chunk, nullptr);
    space.release({&small, 3, 4}, 0);
    EXPECT_EQ(take(4).chunk, &small);
    EXPECT_EQ(take(1).chunk, &large);
    EXPECT_EQ(space.freeUnits(), 89U);
    EXPECT_EQ(take(5000).chunk, nullptr);
}

TEST_F(ExtentSpaceTest, CountsFreeAndDirtyUnitsOverRandomHistories) {
    std::mt19937 random(5);
    std::size_t units = 0;
    for (const std::size_t each : {128U, 128U, 64U, 1024U}) {
        EXPECT_TRUE(space.openHuge(add(each), each == 1024 ? 0xaaaaU : 2U, SIZE_MAX));
        units += each - 1;
    }
    std::vector<Units> live;
    std::set<std::pair<Chunk*, std::size_t>> used;
    std::size_t inUse = 0;
    for (int step = 0; step < 5000; ++step) {
        if (random() % 2 == 0) {
            const std::size_t align = std::size_t{1} << random() % 3;
            const Units run = space.allocate(1 + random() % 30, align, align - 1, nullptr);
            if (run.chunk != nullptr) {
                ASSERT_EQ(run.first % align, align - 1);
                for (std::size_t i = 0; i < run.length; ++i) {
                    ASSERT_TRUE(used.emplace(run.chunk, run.first + i).second) << "twice";
                }
                inUse += run.length;
                live.push_back(run);
            }
        } else if (!live.empty()) {
            const std::size_t which = random() % live.size();
            const Units run = live[which];
            for (std::size_t i = 0; i < run.length; ++i) {
                used.erase({run.chunk, run.first + i});
            }
            inUse -= run.length;
            random() % 3 == 0 ? space.releaseClean(run) : space.release(run, 0);
            live[which] = live.back();
            live.pop_back();
        }
        ASSERT_EQ(space.freeUnits() + inUse, units);
        std::size_t dirty = 0;
        std::size_t hugeClean = 0;
        space.forEachChunk([&](const Chunk& chunk) {
            dirty += chunk.dirty.count(0, Chunk::most);
            hugeClean += chunk.cleanUnitsIn(chunk.hugeBlocks);
            EXPECT_EQ(chunk.longest, chunk.free.longest());
        });
        ASSERT_EQ(space.dirtyUnits(), dirty);
        ASSERT_EQ(space.hugeClean(), hugeClean);
    }
}

TEST_F(ExtentSpaceTest, ARunOpensTheBlocksThatItIsTheFirstToUse) {
    Chunk& chunk = add(300); // four blocks and a part
    EXPECT_EQ(chunk.blocksOpenedBy(1, take(63).length), 0U) << "the first block has the head";
    EXPECT_EQ(chunk.blocksOpenedBy(64, take(3).length), 2U);
    EXPECT_EQ(chunk.blocksOpenedBy(67, take(1).length), 0U) << "it is open";
    const Units wide = take(130);
    EXPECT_EQ(chunk.blocksOpenedBy(wide.first, wide.length), 4U + 8U);
    EXPECT_EQ(take(100).first, 198U);
    EXPECT_EQ(chunk.blocksOpenedBy(198, 100), 0U) << "block 3 is open, the last is no whole one";
    space.release(wide, 0);
    EXPECT_EQ(take(129).first, wide.first);
    EXPECT_EQ(chunk.blocksOpenedBy(wide.first, 120), 0U) << "a unit behind it is dirty";
}

TEST_F(ExtentSpaceTest, BlocksWithHugePagesHaveAtMostAnEighthOfCleanUnits) {
    Chunk& chunk = add(256);
    EXPECT_EQ(take(64).length, 64U);
    EXPECT_FALSE(space.openHuge(chunk, 2, 8 * 62));
    EXPECT_EQ(space.hugeClean(), 0U);
    EXPECT_TRUE(space.openHuge(chunk, 2, 8 * 63));
    EXPECT_EQ(space.hugeClean(), 63U);
    const Units rest = take(63);
    EXPECT_EQ(space.hugeClean(), 0U);
    space.release(rest, 0);
    EXPECT_EQ(space.hugeClean(), 0U) << "these units are dirty";
    const Space::Due due = space.nextDue(300, 250, 256);
    EXPECT_EQ(due.hugeBlocks, 2U);
    EXPECT_EQ(chunk.hugeBlocks, 0U);
    space.releaseClean(due.run);
    EXPECT_EQ(space.hugeClean(), 0U) << "the block has ordinary pages now";
}

TEST_F(ExtentSpaceTest, ReusesTheLatestFreedRunForARequestOfItsSize) {
    Chunk& chunk = add(128);
    const Units run = take(5);
    const Units rest = take(20);
    space.release(run, 40);
    EXPECT_EQ(space.dirtyUnits(), 5U) << "it counts as free";
    EXPECT_EQ(space.freeUnits(), 107U);
    EXPECT_EQ(space.oldestAge(90), 50U);
    Space::Bits dirt;
    EXPECT_EQ(space.allocate(5, 1, 0, &dirt).first, run.first);
    EXPECT_EQ(dirt.count(run.first, 5), 5U) << "and its bytes are those of before";
    EXPECT_EQ(chunk.lengthAt(run.first), 5U);
    EXPECT_EQ(space.dirtyUnits(), 0U);
    EXPECT_EQ(space.freeUnits(), 102U);
    space.release(run, 100);
    EXPECT_EQ(space.allocate(4, 2, 1, nullptr).first % 2, 1U) << "another need finds it merged";
    space.release(rest, 120);
    const Space::Due due = space.nextDue(500, 60, 128);
    EXPECT_EQ(due.run.chunk, &chunk) << "and so does who gives back";
    EXPECT_EQ(chunk.longest, chunk.free.longest());
}

TEST_F(ExtentSpaceTest, ReportsDueRunsAndTheTimeToTheNext) {
    Chunk& chunk = add(128);
    const Units runs[] = {take(3), take(2), take(5), take(1)};
    space.release(runs[0], 100);
    space.release(runs[1], 120);
    space.release(runs[2], 150);
    EXPECT_EQ(space.oldestAge(160), 60U);
    EXPECT_EQ(space.nextDue(160, 70, 128).run.length, 0U);
    Space::Due due = space.nextDue(180, 60, 128);
    EXPECT_EQ(due.run.first, runs[0].first);
    EXPECT_EQ(due.run.length, 5U) << "with the neighbour that is due, too";
    EXPECT_EQ(take(5).first, runs[2].first) << "what is being given back is nobody's meanwhile";
    space.release(runs[2], 150);
    space.releaseClean(due.run);
    EXPECT_EQ(space.dirtyUnits(), 5U);
    EXPECT_EQ(space.nextDue(180, 60, 128).run.length, 0U);
    EXPECT_EQ(space.oldestAge(180), 30U);
    space.release(runs[3], 180);
    due = space.nextDue(300, 60, 128);
    EXPECT_EQ(due.chunk, nullptr) << "the one chunk without objects stays";
    EXPECT_EQ(due.run.length, 6U);
    space.releaseClean(due.run);
    EXPECT_EQ(space.removeEmpty(), &chunk);
    EXPECT_EQ(space.freeUnits(), 0U);
}

TEST_F(ExtentSpaceTest, AChunkWithoutObjectsIsDueAsAWhole) {
    Chunk& first = add(128);
    Chunk& second = add(128, 128);
    EXPECT_EQ(space.dirtyUnits(), 127U);
    const Space::Due due = space.nextDue(300, 250, 128);
    EXPECT_EQ(due.chunk, &second) << "since there is another";
    EXPECT_EQ(space.dirtyUnits(), 0U);
    space.release(take(127), 300);
    EXPECT_EQ(space.nextDue(600, 250, 100).chunk, &first) << "it is too large to stay";
    EXPECT_EQ(space.removeAny(), nullptr);
}

TEST_F(ExtentSpaceTest, GrowsARunIntoFreeUnitsBehindIt) {
    Chunk& chunk = add(20);
    const Units run = take(3);
    const Units next = take(2);
    EXPECT_FALSE(space.grow(chunk, run.first, 4));
    space.release(next, 0);
    EXPECT_TRUE(space.grow(chunk, run.first, 6));
    EXPECT_EQ(chunk.lengthAt(run.first), 6U);
    EXPECT_EQ(space.dirtyUnits(), 0U);
    EXPECT_TRUE(space.grow(chunk, run.first, 19));
    EXPECT_FALSE(space.grow(chunk, run.first, 20));
    EXPECT_EQ(space.freeUnits(), 0U);
}

TEST_F(ExtentSpaceTest, SingleRunCanTakeItsWholeChunk) {
    Chunk& chunk = add(20);
    const Units run = take(3);
    const Units other = take(2);
    EXPECT_FALSE(space.makeSingle(run));
    space.release(other, 0);
    EXPECT_TRUE(space.makeSingle(run));
    EXPECT_EQ(space.singleUnits(), 20U);
    EXPECT_EQ(space.freeUnits(), 0U);
    EXPECT_EQ(chunk.lengthAt(run.first), 3U);
    EXPECT_EQ(take(1).chunk, nullptr) << "it serves nobody else";
    space.removeSingle(chunk);
    space.add(chunk, chunk.touchedEnd, 0);
    EXPECT_EQ(space.dirtyUnits(), 19U);
    EXPECT_EQ(take(19).chunk, &chunk);
}

static_assert(sizeof(Chunk) <= 8 * KiB && Chunk::most * 32 * KiB == 32 * MiB);
static_assert(sizeof(ExtentChunk<16 * KiB>) <= 16 * KiB &&
              sizeof(ExtentChunk<64 * KiB>) <= 4 * KiB);

TEST(ExtentChunk, MergesReleasedRunsAndRemovesTakenOnes) {
    const auto chunk = std::make_unique<Chunk>();
    chunk->units = 100;
    chunk->release(1, 99);
    EXPECT_TRUE(chunk->isEmpty());
    EXPECT_EQ(chunk->longest, 99U);
    chunk->allocate(1, 30);
    EXPECT_FALSE(chunk->isEmpty());
    chunk->longest = 69;
    chunk->releaseDirty(5, 4, 1000);
    EXPECT_EQ(chunk->longest, 69U);
    EXPECT_EQ(chunk->dirtyUnits, 4U);
    EXPECT_EQ(chunk->oldest, 1000U);
    chunk->releaseDirty(20, 11, 1050);
    EXPECT_EQ(chunk->longest, 80U) << "with what is free behind";
    EXPECT_EQ(chunk->dirtyUnits, 15U);
    EXPECT_EQ(chunk->oldest, 1000U);
    EXPECT_EQ(chunk->ageAt(5, 1060), 60U);
    EXPECT_EQ(chunk->ageAt(30, 1060), 10U);
    chunk->allocate(8, 1);
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

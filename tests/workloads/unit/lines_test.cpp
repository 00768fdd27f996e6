// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The detector of false sharing over histories whose answer is known by hand.
#include <support/lines.hpp>

#include <gtest/gtest.h>

namespace heapwright::workloads {
namespace {

constexpr std::uintptr_t page = 0x7f00'0000'0000;

struct LinesTest : testing::Test {
    Lines lines;
    const Lines::Found& found = lines.found();
};

TEST_F(LinesTest, NeighboursOfOneThreadCountAsUnshared) {
    for (std::uintptr_t at = 0; at < 128; at += 8) {
        lines.born(page + at, 8, 1);
    }
    EXPECT_EQ(found.mallocs, 16U);
    EXPECT_EQ(found.active + found.passive + found.lines + found.objects + found.atRisk, 0U);
}

TEST_F(LinesTest, ABlockBesideAnothersIsShared) {
    lines.born(page, 8, 1);
    lines.born(page + 56, 8, 2);
    EXPECT_EQ(found.active, 1U);
    EXPECT_EQ(found.objects, 1U);
    EXPECT_EQ(found.lines, 1U);
}

TEST_F(LinesTest, TheNextLineIsAnother) {
    lines.born(page, 64, 1);
    lines.born(page + 64, 64, 2);
    EXPECT_EQ(found.active, 0U);
    EXPECT_EQ(found.atRisk, 1U);
}

TEST_F(LinesTest, ABlockSharesAtBothEndsButNotBetween) {
    lines.born(page, 8, 1);
    lines.born(page + 256, 8, 3);
    lines.born(page + 32, 224, 2); // ends where the last line begins
    EXPECT_EQ(found.active, 1U);
    lines.dies(page + 32, 224, 2, 2);
    lines.born(page + 32, 232, 2); // and now reaches into it
    EXPECT_EQ(found.active, 3U);
    EXPECT_EQ(found.objects, 2U);
    EXPECT_EQ(found.lines, 2U);
}

TEST_F(LinesTest, IgnoresFreedObjects) {
    lines.born(page, 8, 1);
    lines.dies(page, 8, 1, 1);
    lines.born(page + 8, 8, 2);
    EXPECT_EQ(found.active + found.passive, 0U);
}

TEST_F(LinesTest, AllocatingThreadCountsAndNotTheHoldingThread) {
    lines.born(page, 8, 1); // handed over to thread 2, which the detector need not know
    lines.born(page + 8, 8, 1);
    lines.born(page + 16, 8, 2);
    EXPECT_EQ(found.active, 1U);
}

TEST_F(LinesTest, ReuseOfAHandedOverBlockIsPassive) {
    lines.born(page, 8, 1);
    lines.born(page + 8, 8, 1);
    lines.dies(page, 8, 1, 2);
    lines.born(page, 8, 2);
    EXPECT_EQ(found.passive, 1U);
    EXPECT_EQ(found.active, 0U);
    // Freed and got again by the same thread: still the block that was handed over to it.
    lines.dies(page, 8, 2, 2);
    lines.born(page, 8, 2);
    EXPECT_EQ(found.passive, 2U);
    // Another thread gets it. The allocator returned it again, and that is no thread's own return.
    lines.dies(page, 8, 2, 2);
    lines.born(page, 8, 3);
    EXPECT_EQ(found.active, 1U);
    lines.dies(page, 8, 3, 3);
    lines.born(page, 8, 2);
    EXPECT_EQ(found.passive, 2U);
    EXPECT_EQ(found.active, 2U);
    EXPECT_EQ(found.lines, 1U);
}

TEST_F(LinesTest, AnotherBlockOfTheSameLineIsActive) {
    lines.born(page, 8, 1);
    lines.born(page + 8, 8, 1);
    lines.dies(page, 8, 1, 2);
    lines.born(page + 16, 8, 2);
    EXPECT_EQ(found.active, 1U);
    EXPECT_EQ(found.passive, 0U);
}

TEST_F(LinesTest, ReallocInPlaceCountsNoPlacement) {
    lines.born(page, 8, 1);
    lines.born(page + 8, 8, 2);
    EXPECT_EQ(found.active, 1U);
    const ThreadNumber handed = lines.dies(page, 8, 1, 3); // thread 3 reallocates in place
    lines.stays(page, 8, 1, handed);
    EXPECT_EQ(found.mallocs, 2U);
    EXPECT_EQ(found.active, 1U);
    // It is thread 1's as before, and was never freed by thread 3.
    lines.born(page + 16, 8, 1);
    EXPECT_EQ(found.active, 2U);
    lines.dies(page, 8, 1, 1);
    lines.born(page, 8, 3);
    EXPECT_EQ(found.passive, 0U);
    EXPECT_EQ(found.active, 3U);
}

TEST_F(LinesTest, AnEmptyObjectStandsInItsLine) {
    lines.born(page + 63, 0, 1);
    lines.born(page + 64, 8, 2);
    EXPECT_EQ(found.active, 0U);
    lines.born(page, 8, 2);
    EXPECT_EQ(found.active, 1U);
}

TEST_F(LinesTest, ManyLinesAreKeptApart) {
    for (std::uintptr_t at = 0; at < 100'000; ++at) {
        lines.born(page + 64 * at, 64, 1 + static_cast<ThreadNumber>(at % 7));
    }
    EXPECT_EQ(found.active + found.passive, 0U);
    EXPECT_EQ(found.mallocs, 100'000U);
    EXPECT_GT(found.atRisk, 90'000U);
}

} // namespace
} // namespace heapwright::workloads

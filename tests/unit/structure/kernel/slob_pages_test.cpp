// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/kernel/slob_pages.hpp>

#include <support/kernel_pages.hpp>

#include <gtest/gtest.h>

#include <cstddef>

namespace heapwright::testing {
namespace {

class SlobPagesTest : public ::testing::Test {
protected:
    /// A page more; its address.
    void* add(std::size_t size, std::size_t node = 0) {
        Page* const page = source.takePages(0, Mobility::unmovable, node);
        pages.add(*page, size);
        return PageSection::addressOfPage(*page);
    }
    void* take(std::size_t size, std::size_t align = 8) { return pages.take(size, align, 0); }

    CountedPages source;
    SlobPages pages;
};

TEST_F(SlobPagesTest, KeepsSmallMiddlingAndLargeBlocksInPagesOfTheirOwn) {
    void* const small = add(255);
    void* const middling = add(256);
    void* const large = add(1024);
    EXPECT_EQ(take(8), small);
    EXPECT_EQ(take(1023), middling);
    EXPECT_EQ(take(2000), large);
    EXPECT_EQ(take(255), forward(small, 8));
    EXPECT_EQ(take(256), forward(middling, 1024));
    EXPECT_EQ(pages.pages(), 3U);
}

TEST_F(SlobPagesTest, ServesTheFirstBlockThatIsLargeEnough) {
    add(8);
    void* const first = take(64);
    void* const second = take(32);
    void* const third = take(128);
    EXPECT_EQ(take(8), forward(third, 128));
    EXPECT_FALSE(pages.give(first, 64));
    EXPECT_FALSE(pages.give(third, 128));
    EXPECT_EQ(take(100), third) << "the first is too small";
    EXPECT_EQ(take(40), first);
    EXPECT_EQ(take(24), forward(first, 40)) << "what was left of it";
    EXPECT_FALSE(pages.give(second, 32));
    EXPECT_EQ(take(32), second);
}

TEST_F(SlobPagesTest, MergesFreeNeighboursOnBothSides) {
    add(8);
    void* const first = take(64);
    void* const second = take(64);
    void* const third = take(64);
    void* const fourth = take(64);
    ASSERT_FALSE(pages.give(first, 64));
    ASSERT_FALSE(pages.give(third, 64));
    ASSERT_FALSE(pages.give(second, 64));
    EXPECT_EQ(take(192), first);
    ASSERT_FALSE(pages.give(first, 192));
    EXPECT_TRUE(pages.give(fourth, 64)) << "the page is free as a whole";
    EXPECT_EQ(pages.pages(), 0U);
    EXPECT_EQ(pages.freeBytes(), 0U);
}

TEST_F(SlobPagesTest, AlignsWhatStandsBehindALead) {
    void* const page = add(8);
    EXPECT_EQ(take(8), page);
    void* const block = pages.take(72, 64, 8);
    EXPECT_EQ(block, forward(page, 56));
    EXPECT_EQ(take(48), forward(page, 8)) << "the gap before it serves, too";
}

TEST_F(SlobPagesTest, ForgetsAFullPageUntilSomethingIsFreedInIt) {
    void* const page = add(8);
    for (std::size_t block = 0; block < bytesOfPage / 8; ++block) {
        ASSERT_EQ(take(8), forward(page, block * 8));
    }
    EXPECT_EQ(take(8), nullptr);
    EXPECT_EQ(pages.freeBytes(), 0U);
    EXPECT_FALSE(pages.give(forward(page, 800), 8));
    EXPECT_EQ(pages.freeBytes(), 8U);
    EXPECT_EQ(take(8), forward(page, 800));
}

TEST_F(SlobPagesTest, StartsItsNextSearchWhereTheLastOneEnded) {
    void* const later = add(8);
    void* const first = add(8); // pages come first on their list
    EXPECT_EQ(take(200), first);
    for (int block = 0; block < 19; ++block) { // 96 bytes are left there
        ASSERT_NE(take(200), nullptr);
    }
    ASSERT_EQ(take(200), later);
    EXPECT_EQ(take(8), forward(later, 200)) << "though the other page has room";
}

TEST_F(SlobPagesTest, ServesFromPagesOfTheWantedNode) {
    void* const here = add(8, 0);
    EXPECT_EQ(pages.take(8, 8, 0, 1), nullptr);
    void* const there = add(8, 1);
    EXPECT_EQ(pages.take(8, 8, 0, 0), here);
    EXPECT_EQ(pages.take(8, 8, 0, 1), there);
    EXPECT_EQ(PageSection::of(pages.take(8, 8, 0, 1)).node, 1U);
}

} // namespace
} // namespace heapwright::testing

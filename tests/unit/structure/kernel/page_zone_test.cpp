// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/kernel/page_zone.hpp>

#include <heapwright/platform/pages.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <random>
#include <vector>

namespace heapwright::testing {
namespace {

/// A zone with one section.
class PageZoneTest : public ::testing::Test {
protected:
    PageZoneTest()
        : memory_(platform::mapPagesAt(PageSection::bytes, PageSection::bytes, 0)),
          section_(*::new(memory_) PageSection) {
        zone.add(section_);
    }
    PageZoneTest(const PageZoneTest&) = delete;
    PageZoneTest& operator=(const PageZoneTest&) = delete;
    ~PageZoneTest() override { platform::unmapPages(memory_, PageSection::bytes); }

    /// All single pages that there are, as one mobility; without an event.
    std::vector<Page*> takeAll(Mobility mobility) {
        std::vector<Page*> pages;
        while (zone.freePages() != 0) {
            pages.push_back(zone.take(0, mobility));
        }
        return pages;
    }

    [[nodiscard]] std::size_t indexOf(const Page* page) const {
        return PageSection::indexOf(*page);
    }

    PageZone zone;

private:
    void* memory_;

protected:
    PageSection& section_;
};

constexpr std::size_t groupPages = std::size_t{1} << groupOrder;

TEST(PageOrder, IsThatOfTheSmallestBlockThatHoldsTheBytes) {
    EXPECT_EQ(pageOrderFor(0), 0U);
    EXPECT_EQ(pageOrderFor(4096), 0U);
    EXPECT_EQ(pageOrderFor(4097), 1U);
    EXPECT_EQ(pageOrderFor(8192), 1U);
    EXPECT_EQ(pageOrderFor(8193), 2U);
    EXPECT_EQ(pageOrderFor(4 * MiB), 10U);
    EXPECT_EQ(pageOrderFor(4 * MiB + 1), 11U);
}

TEST_F(PageZoneTest, NewZoneHasAllPagesExceptThoseOfTheSection) {
    EXPECT_EQ(zone.freePages(), PageSection::usablePages());
    EXPECT_EQ(section_.freePages, PageSection::usablePages());
    EXPECT_EQ(zone.freeBlocks(10), 3U); // the first of four has the section's own pages
    EXPECT_EQ(zone.freeBlocks(10, Mobility::movable), 3U);
}

TEST_F(PageZoneTest, GivesBlocksAlignedToTheirSizeWhosePagesLeadToTheirFirst) {
    for (std::size_t order = 0; order < pageOrders; ++order) {
        Page* const block = zone.take(order, Mobility::movable);
        ASSERT_NE(block, nullptr);
        const std::size_t size = std::size_t{1} << order;
        EXPECT_EQ(indexOf(block) % size, 0U);
        char* const start = static_cast<char*>(PageSection::addressOfPage(*block));
        for (std::size_t page = 0; page < size; ++page) {
            ASSERT_EQ(&PageSection::blockAt(start + page * bytesOfPage + 7), block);
        }
    }
}

TEST_F(PageZoneTest, IsWholeAgainAfterAnyHistory) {
    std::mt19937 random(7);
    std::vector<Page*> blocks;
    std::vector<int> ownerOf(PageSection::pagesIn, 0);
    const auto mark = [&](const Page* block, int owner) {
        for (std::size_t page = 0; page < std::size_t{1} << block->order; ++page) {
            int& of = ownerOf[indexOf(block) + page];
            ASSERT_EQ(of == 0, owner != 0);
            of = owner;
        }
    };
    for (int step = 0; step < 60'000; ++step) {
        if (random() % 2 == 0 || blocks.empty()) {
            const std::size_t order = std::min(random() % 11, random() % 11);
            Page* const block = zone.take(order, static_cast<Mobility>(random() % mobilities));
            if (block != nullptr) {
                ASSERT_EQ(block->order, order);
                mark(block, 1);
                blocks.push_back(block);
                continue;
            }
        }
        if (!blocks.empty()) {
            std::swap(blocks[random() % blocks.size()], blocks.back());
            mark(blocks.back(), 0);
            zone.give(*blocks.back());
            blocks.pop_back();
        }
        ASSERT_EQ(zone.freePages(), section_.freePages);
    }
    EXPECT_GT(zone.fallbacks().total(), 0U);
    for (Page* const block : blocks) {
        zone.give(*block);
    }
    EXPECT_EQ(zone.freePages(), PageSection::usablePages());
    EXPECT_EQ(zone.freeBlocks(10), 3U);
    zone.remove(section_);
    EXPECT_EQ(zone.pages(), 0U);
    EXPECT_EQ(zone.freePages(), 0U);
}

TEST_F(PageZoneTest, CountsTheFirstRequestOfAnotherMobilityAsAnEventOfTheLargestBlock) {
    ASSERT_NE(zone.take(0, Mobility::movable), nullptr);
    EXPECT_EQ(zone.fallbacks().total(), 0U);
    Page* const page = zone.take(3, Mobility::unmovable);
    ASSERT_NE(page, nullptr);
    EXPECT_EQ(zone.fallbacks().total(), 1U);
    EXPECT_EQ(zone.fallbacks().events[3][10], 1U);
    EXPECT_EQ(zone.fallbacks().claimed, 2U); // two groups of 512 in a block of 1,024
    EXPECT_EQ(PageSection::groupOf(*page), Mobility::unmovable);
    // What is left of them serves more of the kind.
    for (int more = 0; more < 1000; ++more) {
        ASSERT_NE(zone.take(0, Mobility::unmovable), nullptr);
    }
    EXPECT_EQ(zone.fallbacks().total(), 1U);
}

TEST_F(PageZoneTest, ClaimsAGroupIfHalfOfItIsFreeOrOfItsKind) {
    std::vector<Page*> pages = takeAll(Mobility::movable);
    const auto freeOf = [&](std::size_t group, std::size_t count) {
        for (Page* const page : pages) {
            if (indexOf(page) / groupPages == group && count != 0) {
                zone.give(*page);
                --count;
            }
        }
    };
    freeOf(3, groupPages / 2); // in one piece, so it is the larger block
    freeOf(5, groupPages / 4);
    ASSERT_EQ(zone.fallbacks().total(), 0U);
    Page* const first = zone.take(0, Mobility::unmovable);
    EXPECT_EQ(indexOf(first) / groupPages, 3U);
    EXPECT_EQ(PageSection::groupOf(*first), Mobility::unmovable);
    EXPECT_EQ(zone.freeBlocks(7, Mobility::movable), 1U);
    for (std::size_t more = 1; more < groupPages / 2; ++more) {
        ASSERT_NE(zone.take(0, Mobility::unmovable), nullptr);
    }
    EXPECT_EQ(zone.fallbacks().claimed, 1U);
    Page* const second = zone.take(0, Mobility::unmovable);
    EXPECT_EQ(indexOf(second) / groupPages, 5U);
    EXPECT_EQ(PageSection::groupOf(*second), Mobility::movable); // a quarter is not enough
    EXPECT_EQ(zone.fallbacks().total(), 2U);
    EXPECT_EQ(zone.fallbacks().claimed, 1U);
}

TEST_F(PageZoneTest, TakesTheSmallestBlockForMovablePagesThatMayNotClaim) {
    std::vector<Page*> pages = takeAll(Mobility::unmovable);
    const std::uint64_t before = zone.fallbacks().total();
    const auto start = std::find_if(pages.begin(), pages.end(),
                                    [&](Page* page) { return indexOf(page) == 2 * groupPages; });
    ASSERT_NE(start, pages.end());
    std::sort(pages.begin(), pages.end());
    const auto place =
        std::lower_bound(pages.begin(), pages.end(), &section_.pages[2 * groupPages]);
    zone.give(**place); // a single page
    for (std::size_t page = 8; page < 16; ++page) {
        zone.give(**(place + static_cast<std::ptrdiff_t>(page))); // and eight in one block
    }
    Page* const page = zone.take(0, Mobility::movable);
    EXPECT_EQ(page, *place);
    EXPECT_EQ(zone.fallbacks().total(), before + 1);
    EXPECT_EQ(zone.fallbacks().events[0][0], 1U);
}

TEST_F(PageZoneTest, HasTheIndexesOfTheKernel) {
    std::vector<Page*> pages = takeAll(Mobility::movable);
    EXPECT_EQ(zone.unusableIndex(0), 1000);
    EXPECT_EQ(zone.fragmentationIndex(0), 0); // nothing is free: it is want of memory
    std::sort(pages.begin(), pages.end());
    for (std::size_t page = 0; page < 400; page += 2) { // 200 single pages
        zone.give(*pages[pages.size() - 1 - page]);
    }
    EXPECT_EQ(zone.unusableIndex(0), 0);
    EXPECT_EQ(zone.unusableIndex(1), 1000);
    EXPECT_EQ(zone.fragmentationIndex(0), -1000); // it would succeed
    // 1000 - (1000 + 200 * 1000 / 2) / 200 and 1000 - (1000 + 200 * 1000 / 1024) / 200
    EXPECT_EQ(zone.fragmentationIndex(1), 495);
    EXPECT_EQ(zone.fragmentationIndex(10), 995);
}

TEST_F(PageZoneTest, AnswersNullWhenNoBlockOfAnyMobilityIsLargeEnough) {
    for (int block = 0; block < 3; ++block) {
        ASSERT_NE(zone.take(10, Mobility::reclaimable), nullptr);
    }
    EXPECT_EQ(zone.take(10, Mobility::reclaimable), nullptr);
    EXPECT_NE(zone.take(9, Mobility::unmovable), nullptr);
}

} // namespace
} // namespace heapwright::testing

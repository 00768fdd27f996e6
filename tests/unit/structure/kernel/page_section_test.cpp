// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/kernel/page_section.hpp>

#include <heapwright/platform/pages.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace heapwright::testing {
namespace {

/// A section in memory of its own.
class PageSectionTest : public ::testing::Test {
protected:
    PageSectionTest()
        : memory_(platform::mapPagesAt(PageSection::bytes, PageSection::bytes, 0)),
          section(*::new(memory_) PageSection) {}
    PageSectionTest(const PageSectionTest&) = delete;
    PageSectionTest& operator=(const PageSectionTest&) = delete;
    ~PageSectionTest() override { platform::unmapPages(memory_, PageSection::bytes); }

private:
    void* memory_;

protected:
    PageSection& section;
};

TEST_F(PageSectionTest, LeadsFromAnAddressToItsDescriptorAndBack) {
    for (std::size_t index = 0; index < PageSection::pagesIn; index += 97) {
        Page& page = section.pages[index];
        void* const address = PageSection::addressOfPage(page);
        EXPECT_EQ(addressOf(address), addressOf(&section) + index * bytesOfPage);
        EXPECT_EQ(&PageSection::pageAt(forward(address, bytesOfPage - 1)), &page);
        EXPECT_EQ(PageSection::indexOf(page), index);
        EXPECT_EQ(&PageSection::of(&page), &section);
        EXPECT_EQ(&PageSection::of(address), &section);
    }
}

TEST_F(PageSectionTest, LeadsFromAnyPageOfABlockToItsFirst) {
    for (std::uint16_t page = 0; page < 8; ++page) {
        section.pages[64U + page].ahead = page;
    }
    void* const start = PageSection::addressOfPage(section.pages[64]);
    EXPECT_EQ(&PageSection::blockAt(start), &section.pages[64]);
    EXPECT_EQ(&PageSection::blockAt(forward(start, 8 * bytesOfPage - 1)), &section.pages[64]);
}

TEST_F(PageSectionTest, HasAMobilityForEach512Pages) {
    PageSection::groupOf(section.pages[512]) = Mobility::reclaimable;
    EXPECT_EQ(PageSection::groupOf(section.pages[1023]), Mobility::reclaimable);
    EXPECT_NE(PageSection::groupOf(section.pages[511]), Mobility::reclaimable);
    EXPECT_NE(PageSection::groupOf(section.pages[1024]), Mobility::reclaimable);
}

TEST(PageSection, NeedsFewOfItsPagesItself) {
    static_assert(PageSection::ownPages() * bytesOfPage >= sizeof(PageSection));
    EXPECT_LE(PageSection::ownPages() * 64, PageSection::pagesIn);
    EXPECT_EQ(PageSection::ownPages() + PageSection::usablePages(), PageSection::pagesIn);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/pages.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

namespace heapwright::testing {
namespace {

TEST(Pages, ThePageSizeIsThatOfTheSystem) {
    EXPECT_EQ(platform::pageSize(), static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
}

TEST(Pages, AreZeroAndWritable) {
    const std::size_t size = 4 * platform::pageSize();
    auto* const pages = static_cast<unsigned char*>(platform::mapPages(size));
    ASSERT_NE(pages, nullptr);
    for (std::size_t i = 0; i < size; i += 512) {
        EXPECT_EQ(pages[i], 0);
    }
    std::memset(pages, 1, size);
    EXPECT_TRUE(platform::discardPages(pages, size));
    EXPECT_EQ(pages[size - 1], 0);
    EXPECT_TRUE(platform::unmapPages(pages, size));
}

TEST(Pages, FailureIsNullAndKeepsErrno) {
    errno = EINTR;
    EXPECT_EQ(platform::mapPages(std::size_t{1} << 60U), nullptr);
    EXPECT_EQ(platform::reservePages(std::size_t{1} << 60U), nullptr);
    EXPECT_EQ(platform::mapPagesAt(std::size_t{1} << 60U, 1 * MiB, 0), nullptr);
    EXPECT_EQ(platform::mapPagesAt(~std::size_t{0} - 4095, 1 * MiB, 0), nullptr);
    EXPECT_FALSE(platform::unmapPages(pointerTo(1), 4096));
    EXPECT_EQ(errno, EINTR);
}

TEST(Pages, LieAtTheRequestedAddress) {
    const std::size_t page = platform::pageSize();
    for (const std::size_t phase : {std::size_t{0}, page, 1 * MiB - page}) {
        void* const pages = platform::mapPagesAt(3 * page, 1 * MiB, phase);
        ASSERT_NE(pages, nullptr);
        EXPECT_EQ(addressOf(pages) % (1 * MiB), phase);
        std::memset(pages, 1, 3 * page);
        EXPECT_TRUE(platform::unmapPages(pages, 3 * page));
    }
}

TEST(Pages, MoveWithTheirContents) {
    const std::size_t page = platform::pageSize();
    void* pages = platform::mapPages(page);
    ASSERT_NE(pages, nullptr);
    std::memset(pages, 7, page);
    pages = platform::movePages(pages, page, 64 * page);
    ASSERT_NE(pages, nullptr);
    EXPECT_EQ(static_cast<unsigned char*>(pages)[page - 1], 7);
    EXPECT_EQ(static_cast<unsigned char*>(pages)[page], 0);
    EXPECT_TRUE(platform::resizePages(pages, 64 * page, page));
    EXPECT_TRUE(platform::unmapPages(pages, page));
}

TEST(Pages, TheBreakMovesAndMovesBack) {
    const Address before = platform::currentBreak();
    const Address was = platform::moveBreak(4096);
    if (was == 0) {
        GTEST_SKIP() << "this C library does not move the break";
    }
    EXPECT_EQ(was, before);
    EXPECT_EQ(platform::currentBreak(), before + 4096);
    EXPECT_EQ(platform::moveBreak(-4096), before + 4096);
    EXPECT_EQ(platform::currentBreak(), before);
}

} // namespace
} // namespace heapwright::testing

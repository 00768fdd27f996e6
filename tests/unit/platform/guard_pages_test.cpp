// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/guard_pages.hpp>
#include <heapwright/platform/pages.hpp>

#include <gtest/gtest.h>

#include <cerrno>

namespace heapwright::testing {
namespace {

TEST(GuardPages, OpenAsZeroAndCloseAgain) {
    const std::size_t page = platform::pageSize();
    void* const range = platform::reserveClosedPages(3 * page);
    ASSERT_NE(range, nullptr);
    auto* const middle = static_cast<volatile unsigned char*>(forward(range, page));
    ASSERT_TRUE(platform::openPages(forward(range, page), page));
    EXPECT_EQ(middle[page - 1], 0);
    middle[page - 1] = 7;
    EXPECT_DEATH(middle[page] = 1, "");
    EXPECT_DEATH(middle[-1] = 1, "");
    ASSERT_TRUE(platform::closePages(forward(range, page), page));
    EXPECT_DEATH(middle[0] = 1, "");
    ASSERT_TRUE(platform::openPages(forward(range, page), page));
    EXPECT_EQ(middle[page - 1], 0) << "what was there went back";
    EXPECT_TRUE(platform::unmapPages(range, 3 * page));
}

TEST(GuardPages, FailureKeepsErrno) {
    errno = EINTR;
    EXPECT_EQ(platform::reserveClosedPages(std::size_t{1} << 60U), nullptr);
    EXPECT_FALSE(platform::openPages(pointerTo(1), 4096));
    EXPECT_FALSE(platform::closePages(pointerTo(1), 4096));
    EXPECT_EQ(errno, EINTR);
}

} // namespace
} // namespace heapwright::testing

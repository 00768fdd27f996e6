// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/huge_pages.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cerrno>
#include <cstring>

namespace heapwright::testing {
namespace {

TEST(HugePages, SizeIsAMultipleOfThePageSize) {
    const std::size_t huge = platform::hugePageSize();
    EXPECT_TRUE(std::has_single_bit(huge));
    EXPECT_GE(huge, platform::pageSize());
    EXPECT_EQ(platform::hugePageSize(), huge);
}

TEST(HugePages, ANumberIsReadFromAFileOrIsZero) {
    errno = EINTR;
    EXPECT_EQ(platform::detail::numberInFile("/nowhere/at/all"), 0U);
    EXPECT_EQ(platform::detail::numberInFile("/dev/null"), 0U);
    EXPECT_EQ(errno, EINTR);
}

template <class P>
class HugePagesOf : public ::testing::Test {};
using Ways = ::testing::Types<platform::AdvisedHugePages, platform::ReservedHugePages>;
TYPED_TEST_SUITE(HugePagesOf, Ways);

TYPED_TEST(HugePagesOf, LieAtTheRequestedAddressAndAreZero) {
    static_assert(platform::HugePages<TypeParam>);
    const std::size_t huge = platform::hugePageSize();
    for (const std::size_t alignment : {huge, 4 * huge}) {
        const std::size_t phase = alignment - huge;
        auto* const pages = static_cast<unsigned char*>(TypeParam::map(2 * huge, alignment, phase));
        ASSERT_NE(pages, nullptr);
        EXPECT_EQ(addressOf(pages) % alignment, phase);
        EXPECT_EQ(pages[0] | pages[2 * huge - 1], 0);
        pages[0] = pages[2 * huge - 1] = 1;
        EXPECT_TRUE(platform::unmapPages(pages, 2 * huge));
    }
}

TYPED_TEST(HugePagesOf, FailureIsNullAndKeepsErrno) {
    errno = EINTR;
    const std::size_t huge = platform::hugePageSize();
    EXPECT_EQ(TypeParam::map(std::size_t{1} << 60U, huge, 0), nullptr);
    EXPECT_EQ(errno, EINTR);
}

TYPED_TEST(HugePagesOf, MoveOntoOthers) {
    const std::size_t huge = platform::hugePageSize();
    auto* const from = static_cast<unsigned char*>(TypeParam::map(huge, huge, 0));
    auto* const onto = static_cast<unsigned char*>(TypeParam::map(2 * huge, huge, 0));
    ASSERT_NE(from, nullptr);
    ASSERT_NE(onto, nullptr);
    from[huge - 1] = 7;
    errno = EINTR;
    if (platform::movePagesOnto(from, huge, onto)) { // older systems move no reserved ones
        EXPECT_EQ(onto[huge - 1], 7);
        EXPECT_EQ(onto[huge], 0);
    } else {
        EXPECT_EQ(from[huge - 1], 7);
        EXPECT_TRUE(platform::unmapPages(from, huge));
    }
    EXPECT_EQ(errno, EINTR);
    EXPECT_TRUE(platform::unmapPages(onto, 2 * huge));
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/extent/system_extents.hpp>

#include <support/extent_ledger.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

static_assert(ExtentSystem<SystemExtents> && ExtentSystem<LedgerExtents>);

TEST(SystemExtents, MapsAtMultiplesNearTheRequestedAddress) {
    void* const first = SystemExtents::map(0, 3 * MiB, 2 * MiB);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(addressOf(first) % (2 * MiB), 0U);
    void* const second = SystemExtents::map(addressOf(first), 3 * MiB, 8 * MiB);
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(addressOf(second) % (8 * MiB), 0U) << "somebody is there";
    EXPECT_TRUE(SystemExtents::unmap(first, 3 * MiB));
    EXPECT_TRUE(SystemExtents::unmap(second, 3 * MiB));
}

TEST(SystemExtents, MovesPagesAndLeavesZeroBytesOrNothing) {
    auto* const pages = static_cast<unsigned char*>(SystemExtents::map(0, 4 * MiB, 2 * MiB));
    auto* const target = static_cast<unsigned char*>(SystemExtents::map(0, 4 * MiB, 2 * MiB));
    ASSERT_NE(pages, nullptr);
    ASSERT_NE(target, nullptr);
    pages[1 * MiB] = 7;
    ASSERT_TRUE(SystemExtents::moveOutOnto(pages, 2 * MiB, target + 1 * MiB));
    EXPECT_EQ(target[2 * MiB], 7);
    EXPECT_EQ(pages[1 * MiB], 0);
    pages[3 * MiB] = 8;
    ASSERT_TRUE(SystemExtents::moveOnto(pages, 4 * MiB, target));
    EXPECT_EQ(target[3 * MiB], 8);
    EXPECT_EQ(target[2 * MiB], 0);
    EXPECT_TRUE(SystemExtents::discard(target, 4 * MiB));
    EXPECT_EQ(target[3 * MiB], 0);
    EXPECT_TRUE(SystemExtents::extend(target, 4 * MiB, 2 * MiB));
    EXPECT_TRUE(SystemExtents::unmap(target, 2 * MiB));
}

TEST(SystemExtents, CountsTheMemoryOfARange) {
    auto* const pages = static_cast<unsigned char*>(SystemExtents::map(0, 4 * MiB, 2 * MiB));
    ASSERT_NE(pages, nullptr);
    SystemExtents::declineHugePages(pages, 4 * MiB);
    EXPECT_EQ(SystemExtents::residentBytes(pages, 4 * MiB), 0U);
    for (std::size_t at = 0; at < 3 * MiB; at += platform::pageSize()) {
        pages[at] = 1;
    }
    EXPECT_EQ(SystemExtents::residentBytes(pages, 4 * MiB), 3 * MiB);
    EXPECT_EQ(SystemExtents::residentBytes(pages + 2 * MiB, 2 * MiB), 1 * MiB);
    EXPECT_TRUE(SystemExtents::unmap(pages, 4 * MiB));
    EXPECT_EQ(SystemExtents::residentBytes(pages, 4 * MiB), 0U);
}

TEST(SystemExtents, TimeGoesOn) {
    const std::uint32_t before = SystemExtents::milliseconds();
    std::uint32_t after = before;
    while (after - before < 8) {
        after = SystemExtents::milliseconds();
    }
    EXPECT_LT(after - before, 60000U);
}

} // namespace
} // namespace heapwright::testing

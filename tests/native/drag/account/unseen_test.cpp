// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Objects whose accesses are not seen are taken for needed as long as they exist, and counted. One
// access that is seen after all makes them like any other.
#include "drag/account/account.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace {

using heapwright::drag::Account;
using heapwright::drag::Area;

constexpr std::uint64_t place = 0x10000;
constexpr std::uint64_t other = 0x20000;

Area needed(const Account& account) {
    return account.curves().totals().needed;
}

TEST(Unseen, IsNeededUntilItIsFreed) {
    const auto account = std::make_unique<Account>();
    account->allocate(place, 100, 1, true);
    account->allocate(other, 900, 2);
    account->free(place);
    account->allocate(place, 1000, 2);
    account->finish();
    // 100 bytes over a thousand, and the others over their own.
    EXPECT_EQ(needed(*account), Area{100 * 1000 + 900 * 900 + 1000 * 1000});
    EXPECT_EQ(account->unseen().objects, 1U);
    EXPECT_EQ(account->unseen().bytes, 100U);
    EXPECT_EQ(account->curves().site(1)->untouched, 0U);
}

TEST(Unseen, IsNeededToTheEndIfItIsNeverFreed) {
    const auto account = std::make_unique<Account>();
    account->allocate(place, 100, 1, true);
    account->allocate(other, 900, 2);
    account->finish();
    EXPECT_EQ(needed(*account), Area{100 * 1000 + 900 * 900});
    EXPECT_EQ(account->curves().site(1)->unfreed, 1U);
}

TEST(Unseen, IsLikeAnyOtherOnceItWasSeen) {
    const auto account = std::make_unique<Account>();
    account->allocate(place, 100, 1, true);
    account->access(place + 50, 1);
    account->allocate(other, 900, 2);
    account->free(place);
    account->finish();
    EXPECT_EQ(needed(*account), Area{100 * 100 + 900 * 900});
    EXPECT_EQ(account->unseen().objects, 0U);
}

TEST(Unseen, TheNumberOfAnObjectThatEndedIsNotUnseenAgain) {
    const auto account = std::make_unique<Account>();
    account->allocate(place, 100, 1, true);
    account->free(place);
    account->allocate(place, 200, 2);
    account->allocate(other, 700, 2);
    account->finish();
    EXPECT_EQ(needed(*account), Area{100 * 100 + 200 * 200 + 700 * 700});
    EXPECT_EQ(account->unseen().objects, 1U);
}

} // namespace

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/extent/return_rule.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(ReturnRule, IsFixedWhereAHeapIsComposed) {
    static_assert(ReturnRule<ReturnAfter<250>>);
    EXPECT_EQ(ReturnAfter<250>::returnDelay(), 250U);
    EXPECT_FALSE(ReturnAfter<250>::hugePages());
}

TEST(ReturnRule, HasWordsForTheEnds) {
    EXPECT_EQ(ReturnAfter<returnAtOnce>::returnDelay(), 0U);
    EXPECT_GT(returnNever, 4'000'000'000U);
}

TEST(ReturnRule, IsNotAnyType) {
    static_assert(!ReturnRule<int>);
    SUCCEED();
}

} // namespace
} // namespace heapwright::testing

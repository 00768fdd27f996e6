// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/extent/purge_policy.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(PurgePolicy, IsFixedWhereAHeapIsComposed) {
    static_assert(PurgePolicy<PurgeAfter<250>>);
    EXPECT_EQ(PurgeAfter<250>::returnDelay(), 250U);
    EXPECT_FALSE(PurgeAfter<250>::hugePages());
}

TEST(PurgePolicy, HasWordsForTheEnds) {
    EXPECT_EQ(PurgeAfter<purgeAtOnce>::returnDelay(), 0U);
    EXPECT_GT(purgeNever, 4'000'000'000U);
}

TEST(PurgePolicy, IsNotAnyType) {
    static_assert(!PurgePolicy<int>);
    SUCCEED();
}

} // namespace
} // namespace heapwright::testing

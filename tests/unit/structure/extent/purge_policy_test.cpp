// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/extent/purge_policy.hpp>
#include <heapwright/structure/settings/granary_settings.hpp>

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

TEST(PurgePolicy, OnlyThePolicyOfSettingsIsNotifiedOfWaitingMemory) {
    EXPECT_TRUE(NotifiedPurgePolicy<GranarySettings>);
    EXPECT_TRUE(PurgePolicy<PurgeAfter<1000>>);
    EXPECT_FALSE(NotifiedPurgePolicy<PurgeAfter<1000>>);
}

} // namespace
} // namespace heapwright::testing

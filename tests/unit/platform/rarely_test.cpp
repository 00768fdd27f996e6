// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/rarely.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(Rarely, IsTheCondition) {
    EXPECT_TRUE(platform::rarely(true));
    EXPECT_FALSE(platform::rarely(false));
    static_assert(platform::rarely(true) && !platform::rarely(false));
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/prefix.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(Prefix, IsTheBeginningOfAText) {
    EXPECT_TRUE(beginsWith("signal:USR2", "signal:"));
    EXPECT_TRUE(beginsWith("signal:", "signal:"));
    EXPECT_TRUE(beginsWith("anything", ""));
    EXPECT_TRUE(beginsWith("", ""));
}

TEST(Prefix, IsNoLaterOrLongerText) {
    EXPECT_FALSE(beginsWith("a signal:", "signal:"));
    EXPECT_FALSE(beginsWith("signal", "signal:"));
    EXPECT_FALSE(beginsWith("", "x"));
}

} // namespace
} // namespace heapwright::testing

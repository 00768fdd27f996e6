// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/abort.hpp>

#include <gtest/gtest.h>

#include <string>

namespace heapwright::testing {
namespace {

TEST(AbortDeathTest, WritesOneLineAndAborts) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(platform::abortWithMessage("free", "double free"),
                ::testing::KilledBySignal(SIGABRT), "^heapwright: free\\(\\): double free\n");
}

TEST(AbortDeathTest, TruncatesALongMessage) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const std::string tooLong(1000, 'x');
    EXPECT_EXIT(platform::abortWithMessage("free", tooLong), ::testing::KilledBySignal(SIGABRT),
                "xxxx");
}

} // namespace
} // namespace heapwright::testing

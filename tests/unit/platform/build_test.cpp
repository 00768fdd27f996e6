// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/build.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(Build, CountsNoEventsByDefault) {
    EXPECT_FALSE(platform::countsEvents);
    EXPECT_FALSE(platform::scheduled);
}

} // namespace
} // namespace heapwright::testing

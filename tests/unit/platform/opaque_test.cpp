// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/opaque.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace heapwright::testing {
namespace {

TEST(Opaque, IsTheValue) {
    EXPECT_EQ(platform::opaque(0), 0U);
    EXPECT_EQ(platform::opaque(SIZE_MAX), SIZE_MAX);
    EXPECT_FALSE(__builtin_constant_p(platform::opaque(1)));
}

} // namespace
} // namespace heapwright::testing

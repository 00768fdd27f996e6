// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/size_classes.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

struct Complete {
    static constexpr std::size_t count = 1;
    static std::size_t sizeOf(std::size_t) { return 8; }
    static std::size_t classFor(std::size_t) { return 0; }
    static std::size_t classOf(std::size_t) { return 0; }
};
struct WithoutTheWayBack {
    static constexpr std::size_t count = 1;
    static std::size_t sizeOf(std::size_t) { return 8; }
    static std::size_t classFor(std::size_t) { return 0; }
};

TEST(SizeClasses, NeedsBothDirections) {
    EXPECT_TRUE(SizeClasses<Complete>);
    EXPECT_FALSE(SizeClasses<WithoutTheWayBack>);
}

} // namespace
} // namespace heapwright::testing

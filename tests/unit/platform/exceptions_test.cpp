// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/exceptions.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

namespace heapwright::testing {
namespace {

TEST(Exceptions, ThrowForALackOfMemory) {
    EXPECT_THROW(platform::throwBadAlloc(), std::bad_alloc);
}

TEST(Exceptions, NullIfThrownReturnsNullOnAnException) {
    int value = 0;
    EXPECT_EQ(platform::nullIfThrown([&] { return &value; }), &value);
    const auto thrown = platform::nullIfThrown([]() -> int* { throw std::runtime_error("no"); });
    EXPECT_EQ(thrown, nullptr);
}

} // namespace
} // namespace heapwright::testing

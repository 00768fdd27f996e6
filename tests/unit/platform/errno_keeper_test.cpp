// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/errno_keeper.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(ErrnoKeeper, RestoresTheValue) {
    errno = EINTR;
    {
        const platform::ErrnoKeeper keeper;
        errno = ENOMEM;
    }
    EXPECT_EQ(errno, EINTR);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/processors.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <sched.h>

namespace heapwright::testing {
namespace {

TEST(Processors, AreThoseThatTheProcessMayRunOn) {
    errno = 4711;
    const std::size_t number = platform::processors();
    EXPECT_EQ(errno, 4711);
    cpu_set_t mask;
    CPU_ZERO(&mask);
    ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
    EXPECT_EQ(number, static_cast<std::size_t>(CPU_COUNT(&mask)));
    EXPECT_EQ(platform::processors(), number);
}

} // namespace
} // namespace heapwright::testing

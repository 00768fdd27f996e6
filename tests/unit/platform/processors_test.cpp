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

TEST(Processors, AreNamedByANumberAndNothingElse) {
    EXPECT_EQ(platform::processorsIn("1"), 1U);
    EXPECT_EQ(platform::processorsIn("14"), 14U);
    EXPECT_EQ(platform::processorsIn("8192"), 8192U);
    for (const char* text :
         {"", "0", "-3", " 4", "4 ", "4x", "x", "8193", "99999999999999999999"}) {
        EXPECT_EQ(platform::processorsIn(text), 0U) << text;
    }
    EXPECT_EQ(platform::processorsIn(nullptr), 0U);
}

} // namespace
} // namespace heapwright::testing

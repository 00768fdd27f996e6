// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/signal/slow_path.hpp>

#include <gtest/gtest.h>

#include <thread>

namespace heapwright::testing {
namespace {

TEST(SlowPath, IsEnteredOverAScopeAndStaysSoOverAnInnerOne) {
    EXPECT_FALSE(SlowPath::entered());
    {
        const SlowPath::Entry outer;
        EXPECT_TRUE(SlowPath::entered());
        {
            const SlowPath::Entry inner;
            EXPECT_TRUE(SlowPath::entered());
        }
        EXPECT_TRUE(SlowPath::entered());
    }
    EXPECT_FALSE(SlowPath::entered());
}

TEST(SlowPath, IsMarkedUntilItIsUnmarked) {
    EXPECT_FALSE(SlowPath::mark(true));
    EXPECT_TRUE(SlowPath::mark(true));
    EXPECT_TRUE(SlowPath::mark(false));
    EXPECT_FALSE(SlowPath::entered());
}

TEST(SlowPath, IsEachThreadsOwn) {
    const SlowPath::Entry entry;
    bool other = true;
    std::thread([&other] { other = SlowPath::entered(); }).join();
    EXPECT_FALSE(other);
}

} // namespace
} // namespace heapwright::testing

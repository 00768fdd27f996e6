// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sync/lock.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

struct Recorder {
    void lock() { ++depth; }
    bool tryLock() { return true; }
    void unlock() { --depth; }
    void reset() { depth = 0; }
    bool heldByThisThread() const { return depth > 0; }
    int depth = 0;
};

TEST(Guard, HoldsOverItsScope) {
    EXPECT_TRUE(Lock<Recorder>);
    EXPECT_FALSE(Lock<int>);
    Recorder recorder;
    {
        const Guard<Recorder> guard(recorder);
        EXPECT_EQ(recorder.depth, 1);
    }
    EXPECT_EQ(recorder.depth, 0);
}

} // namespace
} // namespace heapwright::testing

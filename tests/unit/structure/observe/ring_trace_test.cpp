// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/observe/ring_trace.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(RingTrace, KeepsTheLatest) {
    static_assert(TraceSink<RingTrace<3>>);
    RingTrace<3> trace;
    EXPECT_EQ(trace.kept(), 0U);
    for (std::uint64_t i = 1; i <= 5; ++i) {
        trace.write({i, Verb::malloc, 0, 0, 8 * i, 0});
        EXPECT_EQ(trace.written(), i);
        EXPECT_EQ(trace.kept(), i < 3 ? i : 3);
        EXPECT_EQ(trace.latest().sequence, i);
    }
    EXPECT_EQ(trace.latest(2).sequence, 3U);
    EXPECT_EQ(trace.latest(2).size, 24U);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/thread/processor_selector.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

using Eight = SimulatedProcessors<8>;

TEST(SimulatedProcessors, AreSetByEachThread) {
    Eight::beOn(5);
    std::thread([] {
        EXPECT_EQ(Eight::mine(), 0U) << "until it says so";
        Eight::beOn(7);
        EXPECT_EQ(Eight::mine(), 7U);
    }).join();
    EXPECT_EQ(Eight::mine(), 5U);
}

TEST(SimulatedProcessors, MayBeFewerThanThereIsRoomFor) {
    EXPECT_EQ(Eight::present(), 8U);
    Eight::bePresent(3);
    EXPECT_EQ(Eight::present(), 3U);
    Eight::bePresent(8);
}

TEST(SimulatedProcessors, AreSharedOutOverTheNodesInTheirOrder) {
    const auto nodes = [] {
        std::vector<std::size_t> all;
        for (std::size_t processor = 0; processor < Eight::present(); ++processor) {
            all.push_back(nodeOfProcessor<Eight, 2>(processor));
        }
        return all;
    };
    EXPECT_EQ(nodes(), (std::vector<std::size_t>{0, 0, 0, 0, 1, 1, 1, 1}));
    Eight::bePresent(4);
    EXPECT_EQ(nodes(), (std::vector<std::size_t>{0, 0, 1, 1}));
    Eight::bePresent(8);
    EXPECT_EQ((nodeOfProcessor<Eight, 1>(7)), 0U);
}

TEST(RealProcessors, AreThoseOfTheMachineAsFarAsThereIsRoom) {
    using Two = RealProcessors<2>;
    for (int look = 0; look < 100; ++look) {
        ASSERT_LT(Two::mine(), 2U);
    }
    EXPECT_EQ(Two::present(), std::min<std::size_t>(2, platform::processors()));
}

} // namespace
} // namespace heapwright::testing

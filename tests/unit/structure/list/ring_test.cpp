// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/list/ring.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(Ring, IsFirstInFirstOut) {
    Ring ring;
    ring.reset();
    EXPECT_TRUE(ring.empty());
    RingNode nodes[3] = {};
    for (RingNode& node : nodes) {
        ring.addBack(&node);
    }
    for (RingNode& node : nodes) {
        EXPECT_EQ(ring.front(), &node);
        Ring::remove(ring.front());
    }
    EXPECT_TRUE(ring.empty());
}

TEST(Ring, GivesUpAnyElement) {
    Ring ring;
    ring.reset();
    RingNode nodes[3] = {};
    for (RingNode& node : nodes) {
        ring.addBack(&node);
    }
    Ring::remove(&nodes[1]);
    EXPECT_EQ(ring.front(), &nodes[0]);
    EXPECT_EQ(nodes[0].next, &nodes[2]);
    EXPECT_EQ(nodes[2].next, ring.end());
    EXPECT_EQ(ring.back(), &nodes[2]);
}

TEST(Ring, TakesAnElementInBeforeAnyOther) {
    Ring ring;
    ring.reset();
    RingNode nodes[3] = {};
    ring.addBack(&nodes[2]);
    Ring::addBefore(&nodes[2], &nodes[0]);
    Ring::addBefore(&nodes[2], &nodes[1]);
    for (RingNode& node : nodes) {
        EXPECT_EQ(ring.front(), &node);
        Ring::remove(ring.front());
    }
    Ring::addBefore(ring.end(), &nodes[0]);
    EXPECT_EQ(ring.back(), &nodes[0]);
}

} // namespace
} // namespace heapwright::testing

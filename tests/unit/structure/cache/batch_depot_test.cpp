// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/cache/batch_depot.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(BatchDepot, RefusesBatchesBeyondItsCapacity) {
    BatchDepot<2> depot;
    ObjectLink one{nullptr};
    ObjectLink two{&one};
    ObjectLink three{nullptr};
    EXPECT_EQ(depot.take(), nullptr);
    EXPECT_TRUE(depot.put(&one));
    EXPECT_TRUE(depot.put(&two));
    EXPECT_FALSE(depot.put(&three));
    EXPECT_EQ(depot.count(), 2U);
    EXPECT_EQ(depot.take(), &two);
    EXPECT_EQ(depot.take(), &one);
    EXPECT_EQ(depot.take(), nullptr);
    EXPECT_EQ(two.next, &one) << "what is in a batch is nobody's business here";
}

TEST(BatchDepot, IsHeldOverAFork) {
    BatchDepot<2> depot;
    depot.beforeFork();
    depot.afterForkInParent();
    EXPECT_EQ(depot.count(), 0U);
    depot.beforeFork();
    depot.afterForkInChild();
    EXPECT_EQ(depot.count(), 0U);
}

} // namespace
} // namespace heapwright::testing

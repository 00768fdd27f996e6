// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/list/bounded_list.hpp>

#include <support/dictionary_model.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(BoundedList, AgreesWithTheModel) {
    expectAModelDictionary<BoundedList<10'000>>();
}

TEST(BoundedList, IsFullAtItsBound) {
    ObjectPool pool(3);
    BoundedList<2> list;
    list.insert(pool.at(0), 64);
    EXPECT_FALSE(list.full());
    list.insert(pool.at(1), 64);
    EXPECT_TRUE(list.full());
    EXPECT_EQ(list.take(64), pool.at(1)) << "the last in";
    EXPECT_FALSE(list.full());
    list.insert(pool.at(2), 64);
    list.remove(pool.at(0));
    EXPECT_FALSE(list.full());
    EXPECT_EQ(list.count(), 1U);
    list.insert(pool.at(0), 64);
    EXPECT_TRUE(list.full());
    list.clear();
    EXPECT_FALSE(list.full());
    EXPECT_EQ(list.take(64), nullptr);
    EXPECT_EQ(list.count(), 0U) << "a take that finds none is not counted";
}

TEST(BoundedList, WithABoundOfZeroIsAlwaysFull) {
    BoundedList<0> list;
    EXPECT_TRUE(list.full());
    EXPECT_EQ(list.take(64), nullptr);
    EXPECT_TRUE(list.full());
}

TEST(BoundedList, IsADictionaryThatKnowsNoSizes) {
    EXPECT_TRUE(BoundedDictionary<BoundedList<1>>);
    EXPECT_FALSE(SizedDictionary<BoundedList<1>>);
    EXPECT_EQ(BoundedList<1>::leastObject, 8U);
}

} // namespace
} // namespace heapwright::testing

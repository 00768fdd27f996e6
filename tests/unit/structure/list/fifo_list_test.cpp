// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/list/fifo_list.hpp>

#include <support/dictionary_model.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(FifoList, AgreesWithTheModel) {
    expectAModelDictionary<FifoList>();
}

TEST(FifoList, GivesTheFirstInFirst) {
    ObjectPool pool(5);
    FifoList list;
    for (std::size_t i = 0; i < 5; ++i) {
        list.insert(pool.at(i), 64);
    }
    list.remove(pool.at(0)); // the first
    list.remove(pool.at(2)); // the middle
    list.remove(pool.at(4)); // the last
    EXPECT_EQ(list.take(64), pool.at(1));
    list.insert(pool.at(0), 64);
    EXPECT_EQ(list.take(64), pool.at(3));
    EXPECT_EQ(list.take(64), pool.at(0));
    EXPECT_EQ(list.take(64), nullptr);
}

TEST(FifoList, NeedsTwoWords) {
    EXPECT_EQ(FifoList::leastObject, 16U);
    EXPECT_FALSE(FifoList::bySize);
}

} // namespace
} // namespace heapwright::testing

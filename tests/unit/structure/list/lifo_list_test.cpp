// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/list/lifo_list.hpp>

#include <support/dictionary_model.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(LifoList, AgreesWithTheModel) {
    expectAModelDictionary<LifoList>();
}

TEST(LifoList, GivesTheLastInFirst) {
    ObjectPool pool(4);
    LifoList list;
    for (std::size_t i = 0; i < 4; ++i) {
        list.insert(pool.at(i), 64);
    }
    list.remove(pool.at(3)); // the head
    list.remove(pool.at(1)); // the middle
    EXPECT_EQ(list.take(64), pool.at(2));
    list.remove(pool.at(0)); // the last
    EXPECT_EQ(list.take(64), nullptr);
}

TEST(LifoList, NeedsAWord) {
    EXPECT_EQ(LifoList::leastObject, 8U);
    EXPECT_FALSE(LifoList::bySize);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/cache/batch_lists.hpp>

#include <gtest/gtest.h>

#include <array>

namespace heapwright::testing {
namespace {

struct alignas(16) Object {
    std::array<std::uint64_t, 6> words{};
};

class BatchListsTest : public ::testing::Test {
protected:
    static constexpr std::size_t size = sizeof(Object);
    static constexpr std::uint64_t secret = 0x1234567890ABCDEF;

    bool put(std::size_t index) { return lists_.put(&objects_[index], size, secret, 2); }

    std::array<Object, 6> objects_;
    BatchLists lists_;
};

TEST_F(BatchListsTest, ServesUpToItsTarget) {
    EXPECT_EQ(lists_.take(size), nullptr);
    EXPECT_TRUE(put(0) && put(1));
    EXPECT_FALSE(put(2));
    EXPECT_EQ(lists_.count(), 2U);
    EXPECT_TRUE(CachedObject::waits(&objects_[0], secret));
    EXPECT_FALSE(CachedObject::waits(&objects_[2], secret));
    EXPECT_EQ(lists_.take(size), &objects_[1]);
    EXPECT_FALSE(CachedObject::waits(&objects_[1], secret));
    EXPECT_EQ(lists_.take(size), &objects_[0]);
    EXPECT_EQ(lists_.take(size), nullptr);
    EXPECT_EQ(lists_.count(), 0U);
}

TEST_F(BatchListsTest, KeepsOneSpareBatch) {
    EXPECT_TRUE(put(0) && put(1));
    EXPECT_EQ(lists_.setAside(), nullptr);
    EXPECT_TRUE(lists_.hasSpare());
    EXPECT_EQ(lists_.count(), 0U);
    EXPECT_TRUE(put(2) && put(3));
    ObjectLink* const surplus = lists_.setAside();
    ASSERT_EQ(surplus, static_cast<void*>(&objects_[1]));
    EXPECT_EQ(surplus->next, static_cast<void*>(&objects_[0]));
    EXPECT_TRUE(lists_.hasSpare());
    lists_.serveFrom(lists_.removeSpare(), 2);
    EXPECT_FALSE(lists_.hasSpare());
    EXPECT_EQ(lists_.take(size), &objects_[3]);
    EXPECT_EQ(lists_.removeServing(), static_cast<void*>(&objects_[2]));
    EXPECT_EQ(lists_.count(), 0U);
    for (Object& object : objects_) { // for AddressSanitizer
        CachedObject::wake(static_cast<ObjectLink*>(static_cast<void*>(&object)), size);
    }
}

} // namespace
} // namespace heapwright::testing

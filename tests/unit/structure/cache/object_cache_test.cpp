// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/exact.hpp>
#include <heapwright/structure/cache/object_cache.hpp>

#include <gtest/gtest.h>

#include <array>

namespace heapwright::testing {
namespace {

using Cache = ObjectCache<Exact<3>>; // 24, 40 and 56 bytes
constexpr std::uint64_t secret = 0x1234567890ABCDEF;

struct alignas(16) Object {
    std::array<std::uint64_t, 8> words{};
};

TEST(ObjectCache, ReturnsTheLatestObjectOfAClassFirst) {
    std::array<Object, 3> objects;
    Cache cache;
    EXPECT_EQ(cache.take(0), nullptr);
    EXPECT_TRUE(cache.put<1000>(&objects[0], 0, secret));
    EXPECT_TRUE(cache.put<1000>(&objects[1], 1, secret));
    EXPECT_TRUE(cache.put<1000>(&objects[2], 0, secret));
    EXPECT_EQ(cache.bytes(), 24U + 40U + 24U);
    EXPECT_EQ(cache.count(), 3U);
    EXPECT_EQ(cache.take(2), nullptr);
    EXPECT_EQ(cache.take(0), &objects[2]);
    EXPECT_EQ(cache.take(0), &objects[0]);
    EXPECT_EQ(cache.take(0), nullptr);
    EXPECT_EQ(cache.take(1), &objects[1]);
    EXPECT_EQ(cache.bytes() + cache.count(), 0U);
}

TEST(ObjectCache, KeepsNoMoreThanItMay) {
    std::array<Object, 3> objects;
    Cache cache;
    EXPECT_TRUE(cache.put<64>(&objects[0], 0, secret));
    EXPECT_FALSE(cache.put<64>(&objects[1], 2, secret)) << "24 and 56 are more than 64";
    EXPECT_TRUE(cache.put<64>(&objects[1], 1, secret)) << "24 and 40 are not";
    EXPECT_FALSE(cache.put<64>(&objects[2], 0, secret));
    EXPECT_EQ(cache.bytes(), 64U);
    cache.clear();
}

TEST(ObjectCache, MarksCachedObjects) {
    Object object;
    Cache cache;
    EXPECT_TRUE(cache.put<1000>(&object, 0, secret));
    EXPECT_TRUE(CachedObject::waits(&object, secret));
    EXPECT_EQ(cache.take(0), &object);
    EXPECT_FALSE(CachedObject::waits(&object, secret));
}

TEST(ObjectCache, TakeChainReturnsUnmarkedObjects) {
    std::array<Object, 5> objects;
    Cache cache;
    for (Object& object : objects) {
        EXPECT_TRUE(cache.put<1000>(&object, 1, secret));
    }
    std::size_t length = 0;
    for (ObjectLink* each = cache.takeChain(1, 3); each != nullptr; each = each->next) {
        EXPECT_FALSE(CachedObject::waits(each, secret));
        ++length;
    }
    EXPECT_EQ(length, 3U);
    EXPECT_EQ(cache.count(), 2U);
    EXPECT_FALSE(cache.isEmpty(1));
    EXPECT_NE(cache.takeChain(1, 9), nullptr);
    EXPECT_TRUE(cache.isEmpty(1));
    EXPECT_EQ(cache.takeChain(1, 9), nullptr);
    EXPECT_EQ(cache.bytes(), 0U);
}

} // namespace
} // namespace heapwright::testing

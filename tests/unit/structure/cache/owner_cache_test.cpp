// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/linear_slots.hpp>
#include <heapwright/structure/cache/cache_limits.hpp>
#include <heapwright/structure/cache/owner_cache.hpp>
#include <heapwright/structure/superblock/superblock_layout.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapwright::testing {
namespace {

using Classes = LinearSlots<512, 512, 512>;
constexpr auto limits = CacheLimits{.perClassBytes = 128,
                                    .perClassObjects = 4,
                                    .refillBytes = 64,
                                    .batchObjects = 2,
                                    .remoteObjects = 3,
                                    .remoteBytes = 100};

template <class Encoding>
class OwnerCacheTest : public ::testing::Test {
protected:
    OwnerCacheTest() {
        Encoding::prepare();
        made.begin(keyOfThread(1));
    }
    struct alignas(16) Object {
        std::array<std::byte, 512> bytes;
    };
    std::array<Object, 8> objects;
    OwnerCache<Classes, limits, Encoding> made;
};
using Kinds = ::testing::Types<PlainFreelist, EncodedFreelist>;
TYPED_TEST_SUITE(OwnerCacheTest, Kinds);

TYPED_TEST(OwnerCacheTest, TakeReturnsTheLatestObjectFirst) {
    auto& cache = this->made;
    EXPECT_EQ(cache.take(1), nullptr);
    EXPECT_TRUE(cache.put(&this->objects[0], 1));
    EXPECT_TRUE(cache.put(&this->objects[1], 1));
    EXPECT_EQ(cache.take(2), nullptr) << "another class";
    EXPECT_EQ(cache.count(1), 2U);
    EXPECT_EQ(cache.take(1), &this->objects[1]);
    EXPECT_EQ(cache.take(1), &this->objects[0]);
    EXPECT_EQ(cache.take(1), nullptr);
    EXPECT_EQ(cache.count(1), 0U);
}

TYPED_TEST(OwnerCacheTest, KeepsNoMoreThanItsLimit) {
    auto& cache = this->made;
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_TRUE(cache.put(&this->objects[i], 0));
    }
    EXPECT_FALSE(cache.put(&this->objects[4], 0));
    EXPECT_FALSE(cache.put(&this->objects[4], 0)) << "nothing was done";
    EXPECT_EQ(cache.take(0), &this->objects[3]);
    EXPECT_TRUE(cache.put(&this->objects[4], 0));
    EXPECT_TRUE(cache.put(&this->objects[5], 7)) << "one of 128 bytes";
    EXPECT_FALSE(cache.put(&this->objects[6], 7));
}

TYPED_TEST(OwnerCacheTest, TakesAndGivesChains) {
    auto& cache = this->made;
    std::vector<void*> handed;
    const auto give = [&](ObjectLink* chain, std::size_t number, ObjectLink* /*end*/) {
        for (; number > 0; --number) {
            handed.push_back(chain);
            chain = chain->next;
        }
        return chain;
    };
    EXPECT_FALSE(cache.hand(0, 5, give));
    ObjectLink* const second = ::new (&this->objects[1]) ObjectLink{cache.listEnd()};
    cache.fill(::new (&this->objects[0]) ObjectLink{second}, 2, 0);
    EXPECT_TRUE(cache.put(&this->objects[2], 0));
    EXPECT_EQ(cache.count(0), 3U);
    EXPECT_TRUE(cache.hand(0, 2, give));
    EXPECT_EQ(handed, (std::vector<void*>{&this->objects[2], &this->objects[0]}));
    EXPECT_EQ(cache.count(0), 1U);
    EXPECT_TRUE(cache.hand(0, 2, give));
    EXPECT_EQ(handed.size(), 3U);
    EXPECT_EQ(handed.back(), &this->objects[1]);
    EXPECT_EQ(cache.count(0), 0U);
    EXPECT_EQ(cache.take(0), nullptr);
    EXPECT_FALSE(cache.hand(0, 2, give));
}

/// A cache that has not begun, or has ended, has nothing to hand out.
TYPED_TEST(OwnerCacheTest, HandsOutNothingBeforeItBegins) {
    OwnerCache<Classes, limits, TypeParam> cache;
    const auto never = [](ObjectLink* chain, std::size_t, ObjectLink*) {
        ADD_FAILURE();
        return chain;
    };
    EXPECT_FALSE(cache.hand(0, SIZE_MAX, never));
}

TYPED_TEST(OwnerCacheTest, RefillsGrowInAStreakUpToTheLimit) {
    OwnerCache<Classes,
               CacheLimits{.perClassBytes = 8 * KiB,
                           .perClassObjects = 64,
                           .refillBytes = 2 * KiB,
                           .batchObjects = 16,
                           .remoteObjects = 32,
                           .remoteBytes = 64 * KiB},
               TypeParam>
        cache;
    EXPECT_EQ(cache.refills(0), 16U);
    EXPECT_EQ(cache.refills(0), 32U);
    EXPECT_EQ(cache.refills(0), 64U);
    EXPECT_EQ(cache.refills(0), 64U) << "there is room for no more";
    EXPECT_EQ(cache.refills(1), 16U) << "of another class";
    EXPECT_EQ(cache.flushes(0), 16U);
    EXPECT_EQ(cache.flushes(0), 32U);
    EXPECT_EQ(cache.refills(0), 16U);
    const std::size_t largest = Classes::count - 1; // 512 bytes
    EXPECT_EQ(cache.refills(largest), 4U);
    for (int i = 0; i < 100; ++i) {
        EXPECT_LE(cache.refills(largest), 16U);
    }
}

TYPED_TEST(OwnerCacheTest, HandsOutRemoteObjectsAtTheLimitOfNumberOrBytes) {
    auto& cache = this->made;
    std::size_t number = 0;
    EXPECT_TRUE(cache.tryPutRemote(&this->objects[3], 16));
    EXPECT_EQ(cache.takeRemote(), static_cast<void*>(&this->objects[3]));
    EXPECT_EQ(cache.putRemote(&this->objects[0], 16, number), nullptr);
    EXPECT_EQ(cache.putRemote(&this->objects[1], 16, number), nullptr);
    MemoryUsage usage;
    cache.measure(usage);
    EXPECT_EQ(usage.held, 32U);
    EXPECT_EQ(usage.heldCount, 2U);
    EXPECT_FALSE(cache.tryPutRemote(&this->objects[2], 16)) << "that would return a chain";
    ObjectLink* const three = cache.putRemote(&this->objects[2], 16, number);
    ASSERT_NE(three, nullptr);
    EXPECT_EQ(number, 3U);
    EXPECT_NE(three->next->next, nullptr);
    EXPECT_EQ(three->next->next->next, nullptr);
    EXPECT_EQ(cache.putRemote(&this->objects[0], 60, number), nullptr);
    EXPECT_NE(cache.putRemote(&this->objects[1], 60, number), nullptr) << "120 bytes";
    EXPECT_EQ(cache.takeRemote(), nullptr);
}

TYPED_TEST(OwnerCacheTest, TakeReturnsNullWhileTheStateIsSuspended) {
    auto& cache = this->made;
    EXPECT_TRUE(cache.put(&this->objects[0], 1));
    const auto aside = cache.state;
    cache.state = {};
    EXPECT_EQ(cache.take(1), nullptr);
    EXPECT_EQ(cache.state.me, uncachedOwnerTag);
    cache.state = aside;
    EXPECT_EQ(cache.take(1), &this->objects[0]);
}

TYPED_TEST(OwnerCacheTest, BeginsOnce) {
    OwnerCache<Classes, limits, TypeParam> cache;
    EXPECT_FALSE(cache.isActive());
    EXPECT_TRUE(cache.mayBegin());
    EXPECT_FALSE(cache.mayBegin()) << "it is about to";
    cache.begin(keyOfThread(3));
    EXPECT_TRUE(cache.isActive());
    EXPECT_EQ(cache.state.me, keyOfThread(3));
    cache.end();
    EXPECT_FALSE(cache.isActive());
    EXPECT_FALSE(cache.mayBegin());
    EXPECT_EQ(cache.state.me, uncachedOwnerTag);
}

TEST(OwnerCache, RefillsAClassFromACoarserOneAFewTimes) {
    OwnerCache<Classes, limits.withCoarseRefills(2), PlainFreelist> cache;
    const std::size_t index = Classes::classFor(80);
    const std::size_t coarse = Classes::classFor(96);
    EXPECT_EQ(cache.refillClass(index), coarse);
    EXPECT_EQ(cache.refillClass(index), coarse);
    EXPECT_EQ(cache.refillClass(index), index);
    EXPECT_EQ(cache.refillClass(Classes::classFor(112)), Classes::classFor(128))
        << "each class has its own number";
    EXPECT_EQ(cache.refillClass(coarse), coarse);
    EXPECT_EQ(cache.refillClass(0), 0U) << "small classes have no coarser one";
}

/// A class with stretched slots has the coarser class of its smallest requests.
TEST(OwnerCache, TakesNoCoarserClassThanTheRequestsNeed) {
    using Stretched = LinearSlots<1 * KiB, 4 * KiB, 16 * KiB, SuperblockFit<32 * KiB>>;
    OwnerCache<Stretched, limits.withCoarseRefills(2), PlainFreelist> cache;
    for (const std::size_t itself : {2048U, 4096U, 5000U, 8000U, 8192U, 16384U}) {
        EXPECT_EQ(cache.refillClass(Stretched::classFor(itself)), Stretched::classFor(itself));
    }
    EXPECT_EQ(cache.refillClass(Stretched::classFor(2500)), Stretched::classFor(3072));
}

TEST(OwnerCache, RefillsAClassFromItselfWithoutCoarseRefills) {
    OwnerCache<Classes, limits, PlainFreelist> cache;
    EXPECT_EQ(cache.refillClass(Classes::classFor(80)), Classes::classFor(80));
}

} // namespace
} // namespace heapwright::testing

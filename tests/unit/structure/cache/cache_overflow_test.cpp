// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/cache/cache_overflow.hpp>

#include <gtest/gtest.h>

#include <array>

namespace heapwright {
namespace {

static_assert(CacheOverflow<Batches<8>> && CacheOverflow<Singles> && CacheOverflow<Ages<128>>);
static_assert(CacheOverflow<SlowStart<1, 32>> && CacheOverflow<OwnArena<64, Ages<128>>>);
static_assert(!CacheOverflow<int>);

TEST(CacheOverflow, StatesHowManyObjectsMoveAndWhetherTheyHaveAnAge) {
    EXPECT_EQ(Batches<8>::batch, 8U);
    EXPECT_EQ(Batches<8>::age, 0U);
    EXPECT_EQ(Singles::batch, 1U);
    EXPECT_EQ(Singles::age, 0U);
    EXPECT_EQ(Ages<128>::batch, 1U);
    EXPECT_EQ(Ages<128>::age, 128U);
}

TEST(CacheOverflow, StatesTheFirstFetchAndWhichObjectsMustBeOfTheOwnArena) {
    EXPECT_EQ(Batches<8>::firstBytes, 0U) << "no slow start";
    EXPECT_EQ(Batches<8>::ownBelow, 0U) << "objects of any arena are kept";
    EXPECT_EQ((SlowStart<64, 32>::firstBytes), 64U);
    EXPECT_EQ((SlowStart<64, 32>::batch), 32U);
    EXPECT_EQ((OwnArena<64, SlowStart<1, 8>>::ownBelow), 64U);
    EXPECT_EQ((OwnArena<64, SlowStart<1, 8>>::batch), 8U) << "the rest is the other policy's";
    EXPECT_EQ((OwnArena<64, SlowStart<1, 8>>::firstBytes), 1U);
}

TEST(AgedObject, KeepsItsStampWhileItIsCached) {
    alignas(AgedObject) std::array<unsigned char, 64> memory{};
    AgedObject::stamp(memory.data(), 4711);
    const CachedObject* const waiting = CachedObject::make(memory.data(), nullptr, 1, 16);
    EXPECT_EQ(AgedObject::stampOf(waiting), 4711U);
}

} // namespace
} // namespace heapwright

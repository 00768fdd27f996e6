// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/cache/owner_tag.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>

namespace heapwright::testing {
namespace {

TEST(OwnerTagWord, EachThreadNumberHasItsOwnKey) {
    std::set<OwnerTag> keys;
    for (std::uint32_t number = 0; number < 100'000; ++number) {
        keys.insert(keyOfThread(number));
        keys.insert(keyOfThread(UINT32_MAX - number));
    }
    EXPECT_EQ(keys.size(), 200'000U);
    EXPECT_FALSE(namesThread(noOwnerTag));
    EXPECT_FALSE(namesThread(cachingSuspended));
    EXPECT_FALSE(namesThread(uncachedOwnerTag));
    for (const OwnerTag key : keys) {
        ASSERT_TRUE(isThreadTag(key));
        ASSERT_EQ(key & cachingSuspended, 0U);
        ASSERT_NE(key, uncachedOwnerTag - 1) << "nor with its lowest bit set";
    }
    for (const std::size_t index : {0U, 1U, 4096U}) {
        EXPECT_FALSE(namesThread(keyOfSharedHeap(index)));
        EXPECT_FALSE(isThreadTag(keyOfSharedHeap(index)));
        EXPECT_NE(keyOfSharedHeap(index), noOwnerTag);
        EXPECT_NE(keyOfSharedHeap(index), keyOfSharedHeap(index + 1));
    }
}

TEST(OwnerTagWord, IsThatOfTheByteBeforeTheObject) {
    struct alignas(1024) Units {
        std::array<OwnerTagWord, 256> words;
    };
    Units units;
    units.words[0].store(7, std::memory_order_relaxed);
    units.words[128].store(9, std::memory_order_relaxed);
    const auto at = [&units](std::size_t offset) { return forward(&units, offset); };
    EXPECT_EQ(ownerTagOf<1024>(at(16)), 7U);
    EXPECT_EQ(ownerTagOf<1024>(at(1024)), 7U);
    EXPECT_EQ(ownerTagOf<1024>(at(1040)), 9U);
    EXPECT_EQ(unitOf<1024>(nullptr), ~Address{1023});
}

TEST(OwnerTagWord, NamesTheHeapOfItsThread) {
    for (const std::size_t place : {0U, 1U, 2047U, 4095U}) {
        for (const std::uint32_t number : {0U, 1U, 77'777U, UINT32_MAX - 2}) {
            const OwnerTag key = keyOfThread(number, place);
            EXPECT_TRUE(isThreadTag(key));
            EXPECT_EQ(placeOfThread(key), place);
            EXPECT_EQ(placeOfThread(key | cachingSuspended), place);
            EXPECT_TRUE(namesThread(key));
        }
    }
    EXPECT_NE(keyOfThread(5, 1), keyOfThread(5, 2));
}

/// Words that are no tags: addresses, small numbers, text.
TEST(OwnerTagWord, RarelyMatchesOtherWords) {
    std::size_t seen = 0;
    for (std::uint64_t word = 0; word < 1'000'000; ++word) {
        seen += namesThread(word) ? 1U : 0U;
        seen += namesThread(0x7FFF'0000'0000U + word * 16) ? 1U : 0U;
        seen += namesThread(0x6162'6364'6566'6768U + word) ? 1U : 0U;
    }
    EXPECT_LE(seen, 20U);
}

} // namespace
} // namespace heapwright::testing

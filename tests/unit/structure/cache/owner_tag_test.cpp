// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/cache/owner_tag.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>

namespace heapwright::testing {
namespace {

TEST(OwnerTagWord, HasAKeyForEachThreadThatIsNoOther) {
    std::set<OwnerTag> keys;
    for (std::uint32_t number = 0; number < 100'000; ++number) {
        keys.insert(keyOfThread(number));
        keys.insert(keyOfThread(UINT32_MAX - number));
    }
    EXPECT_EQ(keys.size(), 200'000U);
    for (const OwnerTag key : keys) {
        ASSERT_TRUE(isThreadTag(key));
        ASSERT_EQ(key & cachingSuspended, 0U);
        ASSERT_NE(key, uncachedOwnerTag - 1) << "nor with its lowest bit set";
    }
    for (const std::size_t index : {0U, 1U, 4096U}) {
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

} // namespace
} // namespace heapwright::testing

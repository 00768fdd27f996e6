// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/superblock/emptiness.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace heapwright::testing {
namespace {

using Published = Emptiness<1, 4, 4>;

TEST(Emptiness, IsTheInvariantOfHoard) {
    constexpr std::size_t each = 100;
    for (std::size_t held = 0; held <= 3000; held += each) {
        for (std::size_t used = 0; used <= held; ++used) {
            const bool enough = used + 4 * each >= held || used * 4 >= held * 3;
            ASSERT_EQ(used >= Published::least(held, each), enough) << used << " of " << held;
        }
    }
}

TEST(Emptiness, LetsAHeapKeepAFewSuperblocksOfAnyUse) {
    EXPECT_EQ(Published::least(400, 100), 0U);
    EXPECT_EQ(Published::least(500, 100), 100U);
    EXPECT_EQ((Emptiness<1, 2, 1>::least(100, 100)), 0U);
    EXPECT_EQ((Emptiness<1, 2, 1>::least(200, 100)), 100U);
}

TEST(Emptiness, SaysWhichSuperblockIsEmptyEnough) {
    EXPECT_TRUE(Published::isMostlyEmpty(0, 100));
    EXPECT_TRUE(Published::isMostlyEmpty(75, 100));
    EXPECT_FALSE(Published::isMostlyEmpty(76, 100));
    EXPECT_FALSE((Emptiness<1, 2, 4>::isMostlyEmpty(2, 3)));
    EXPECT_TRUE((Emptiness<1, 2, 4>::isMostlyEmpty(1, 3)));
}

TEST(BySlots, KeepsMoreSuperblocksOfManySlots) {
    using Few = Emptiness<1, 4, 1>;
    using Many = Emptiness<1, 4, 3>;
    using Rule = BySlots<128, Many, Few>;
    for (const std::size_t each : {2U, 127U, 128U, 2000U}) {
        const bool many = each >= 128;
        EXPECT_EQ(Rule::keptOf(each), many ? 3U : 1U) << each;
        for (std::size_t held = 0; held <= 20 * each; held += each) {
            EXPECT_EQ(Rule::least(held, each),
                      many ? Many::least(held, each) : Few::least(held, each))
                << held << " slots in superblocks of " << each;
        }
    }
}

TEST(Never, RequiresNoUse) {
    EXPECT_EQ(Never::least(1'000'000, 10), 0U);
}

static_assert(InParts<4, Published>::parts == 4 && InParts<4, Published>::kept == 4);
static_assert(!Published::verified && Verified<Published>::verified);

} // namespace
} // namespace heapwright::testing

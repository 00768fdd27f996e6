// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/map/bit_set.hpp>

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace heapwright::testing {
namespace {

TEST(BitSet, IsEmptyAtFirst) {
    const BitSet<127> bits;
    EXPECT_EQ(bits.next(0), 127U);
    EXPECT_FALSE(bits.has(0));
    EXPECT_FALSE(bits.has(126));
}

TEST(BitSet, HasNothingBeyondItsEnd) {
    BitSet<64> bits;
    bits.set(63);
    EXPECT_EQ(bits.next(63), 63U);
    EXPECT_EQ(bits.next(64), 64U);
    EXPECT_EQ(bits.next(~std::size_t{0}), 64U);
}

template <class Bits>
void agreesWithASet(std::size_t count) {
    Bits bits;
    std::set<std::size_t> model;
    std::mt19937 random(5);
    for (int step = 0; step < 4000; ++step) {
        const std::size_t index = random() % count;
        if (random() % 3 == 0) {
            bits.set(index);
            model.insert(index);
        } else {
            bits.reset(index);
            model.erase(index);
        }
        const std::size_t from = random() % (count + 3);
        const auto next = model.lower_bound(from);
        ASSERT_EQ(bits.next(from), next == model.end() ? count : *next);
        ASSERT_EQ(bits.has(index), model.count(index) != 0);
    }
    bits.clear();
    EXPECT_EQ(bits.next(0), count);
}

TEST(BitSet, AgreesWithASet) {
    agreesWithASet<BitSet<1>>(1);
    agreesWithASet<BitSet<63>>(63);
    agreesWithASet<BitSet<64>>(64);
    agreesWithASet<BitSet<127>>(127);
    agreesWithASet<BitSet<300>>(300);
}

} // namespace
} // namespace heapwright::testing

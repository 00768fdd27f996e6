// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/fit/block.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(Block, IsAsLargeAsTheObjectNeeds) {
    EXPECT_EQ(Block::sizeFor(1), 32U);
    EXPECT_EQ(Block::sizeFor(24), 32U);
    EXPECT_EQ(Block::sizeFor(25), 48U);
    EXPECT_EQ(Block::sizeFor(~std::size_t{0}), 0U);
    EXPECT_EQ(Block::sizeFor(Block::largest + 1), 0U);
}

TEST(Block, KnowsItsNeighbours) {
    alignas(16) unsigned char memory[256] = {};
    Block* const first = Block::make(memory + 8, 64, State::free, Flag::binned);
    first->writeFooter();
    Block* const second = Block::make(first->next(), 32, State::live, Flag::prevFree);
    EXPECT_EQ(addressOf(second), addressOf(first) + 64);
    EXPECT_EQ(second->previous(), first);
    EXPECT_EQ(Block::of(second->object()), second);
    EXPECT_EQ(Block::of(&first->links), first);
}

} // namespace
} // namespace heapwright::testing

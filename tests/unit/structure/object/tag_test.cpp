// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/object/tag.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(Tag, HoldsSizeStateAndFlags) {
    Tag tag(4096, State::live, Flag::direct);
    EXPECT_EQ(tag.size(), 4096U);
    EXPECT_TRUE(tag.is(State::live) && tag.has(Flag::direct));
    EXPECT_FALSE(tag.is(State::free) || tag.has(Flag::binned) || tag.has(Flag::prevFree));
    EXPECT_EQ(Tag(std::size_t{1} << 47U, State::free).size(), std::size_t{1} << 47U);
}

TEST(Tag, ChangesStateWithoutTouchingTheRest) {
    Tag tag(96, State::free, Flag::prevFree);
    tag.makeLive();
    EXPECT_TRUE(tag.is(State::live) && tag.has(Flag::prevFree));
    tag.makeLive();
    EXPECT_TRUE(tag.is(State::live)) << "live stays live";
    tag.makeFree();
    EXPECT_TRUE(tag.is(State::free) && tag.has(Flag::prevFree));
    EXPECT_EQ(tag.size(), 96U);
}

TEST(Tag, SetsAndResetsFlagsWithoutTouchingTheRest) {
    Tag tag(64, State::live);
    EXPECT_EQ(tag.plainSize(), 64U);
    tag.set(Flag::binned);
    tag.set(Flag::prevFree);
    tag.reset(Flag::binned);
    EXPECT_EQ(tag.flags(), Flag::prevFree);
    EXPECT_EQ(tag.size(), 64U);
    EXPECT_TRUE(tag.is(State::live));
}

TEST(Tag, StandsJustBeforeTheObject) {
    alignas(16) unsigned char memory[32] = {};
    ::new (memory + 8) Tag(24, State::live);
    EXPECT_TRUE(Tag::of(memory + 16).is(State::live));
    EXPECT_EQ(Tag::of(memory + 16).plainSize(), 24U);
}

} // namespace
} // namespace heapwright::testing

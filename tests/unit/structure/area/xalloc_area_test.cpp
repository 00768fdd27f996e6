// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/area/xalloc_area.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace heapwright::testing {
namespace {

class XallocAreaTest : public ::testing::Test {
protected:
    void SetUp() override { area.adopt(memory, sizeof memory); }

    alignas(minAlignment) std::byte memory[1024];
    XallocArea area;
};

TEST(XallocArea, HasNothingBeforeItHasAnArea) {
    XallocArea none;
    EXPECT_EQ(none.malloc(1), nullptr);
    EXPECT_EQ(none.memory(), nullptr);
    EXPECT_FALSE(none.owns(&none));
}

TEST_F(XallocAreaTest, StacksObjectsEightBytesApart) {
    void* const first = area.malloc(24);
    void* const second = area.malloc(25);
    void* const third = area.malloc(1);
    EXPECT_EQ(addressOf(first) % minAlignment, 0U);
    EXPECT_EQ(addressOf(second), addressOf(first) + 32);
    EXPECT_EQ(addressOf(third), addressOf(second) + 48);
}

TEST_F(XallocAreaTest, FreeOfTheLastObjectAlsoReleasesFreedObjectsBelowIt) {
    void* const first = area.malloc(40);
    void* const second = area.malloc(40);
    void* const third = area.malloc(40);
    area.free(second);
    void* const fourth = area.malloc(40);
    EXPECT_GT(addressOf(fourth), addressOf(third)); // the dead one waits
    area.free(fourth);
    area.free(third); // and goes with its successor
    EXPECT_EQ(area.malloc(40), second);
    area.free(first);
    area.free(second);
    EXPECT_EQ(area.malloc(8), first);
    area.free(first);
    EXPECT_EQ(area.used(), 8U); // nothing but the first tag
}

TEST_F(XallocAreaTest, FillsUpToTheLastByteAndNoFurther) {
    std::size_t count = 0;
    while (void* const object = area.malloc(24)) {
        ASSERT_LE(addressOf(object) + 24, addressOf(memory) + sizeof memory);
        std::memset(object, 0xEE, 24);
        ++count;
    }
    EXPECT_EQ(count, 31U); // (1024 - 8) / 32
    EXPECT_NE(area.malloc(8), nullptr);
    EXPECT_EQ(area.malloc(8), nullptr);
    EXPECT_EQ(area.malloc(0), nullptr);
}

TEST_F(XallocAreaTest, RefusesSizesThatOverflowWithTheTag) {
    for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 6, SIZE_MAX - 7, SIZE_MAX - 8,
                                   SIZE_MAX - 22, SIZE_MAX - 23, SIZE_MAX / 2}) {
        EXPECT_EQ(area.malloc(size), nullptr) << size;
    }
    void* const object = area.malloc(8);
    EXPECT_FALSE(area.resize(object, SIZE_MAX));
    EXPECT_FALSE(area.resize(object, SIZE_MAX - 16));
}

TEST_F(XallocAreaTest, OnlyTheLastObjectChangesItsSize) {
    void* const first = area.malloc(8);
    void* const last = area.malloc(8);
    EXPECT_FALSE(area.resize(first, 8));
    EXPECT_TRUE(area.resize(last, 200));
    EXPECT_GE(addressOf(area.malloc(1)), addressOf(last) + 200);
    area.reset();
    EXPECT_EQ(area.malloc(8), first);
    EXPECT_TRUE(area.resize(first, 1000));
    EXPECT_EQ(area.malloc(8), nullptr);
    EXPECT_TRUE(area.resize(first, 8));
    EXPECT_EQ(area.malloc(8), last);
    EXPECT_FALSE(area.resize(last, 1000));
}

TEST_F(XallocAreaTest, OwnsItsAreaAndNothingElse) {
    EXPECT_TRUE(area.owns(area.malloc(8)));
    EXPECT_TRUE(area.owns(memory + 1000));
    EXPECT_FALSE(area.owns(memory + sizeof memory));
    EXPECT_FALSE(area.owns(this));
}

} // namespace
} // namespace heapwright::testing

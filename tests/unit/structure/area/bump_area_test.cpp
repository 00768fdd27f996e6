// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/area/bump_area.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapwright::testing {
namespace {

struct alignas(16) Memory {
    std::byte bytes[1 * KiB];
};

constexpr std::size_t room = sizeof(Memory) - BumpArea::overhead;

TEST(BumpArea, HasNothingBeforeItEntersAnArea) {
    BumpArea area;
    EXPECT_FALSE(area.exists());
    EXPECT_FALSE(area.hasRoom(32));
    EXPECT_FALSE(area.cursor().hasRoom(32));
    EXPECT_FALSE(area.cursor().hasRoom(0));
    EXPECT_EQ(area.rest(), 0U);
    EXPECT_TRUE(area.moving());
    area.stop(); // there is no place for a tag either
    EXPECT_FALSE(area.moving());
    EXPECT_FALSE(area.hasRoom(32));
}

TEST(BumpArea, LeavesLiveBlocksBehindUpToTheEnd) {
    Memory memory{};
    BumpArea area;
    area.enter(&memory, BumpArea::roomIn(sizeof memory));
    EXPECT_EQ(area.rest(), room);
    EXPECT_EQ(BumpArea::roomIn(sizeof memory + 15), room);
    Block* const first = area.make(64);
    EXPECT_EQ(addressOf(first->object()), addressOf(&memory) + minAlignment);
    EXPECT_TRUE(first->tag.is(State::live));
    EXPECT_EQ(first->size(), 64U);
    EXPECT_TRUE(area.isLast(first));
    Block* const second = area.make(room - 64);
    EXPECT_EQ(second, first->next());
    EXPECT_FALSE(area.isLast(first));
    EXPECT_FALSE(area.hasRoom(32));
    EXPECT_FALSE(area.hasRoom(0));
    area.stop(); // the last tag has its place inside the memory
    EXPECT_EQ(addressOf(second->next()) + Tag::bytes, addressOf(&memory) + sizeof memory);
}

TEST(BumpArea, StopTagsTheRestOfTheArea) {
    Memory memory{};
    std::memset(&memory, 0xA5, sizeof memory);
    BumpArea area;
    area.enter(&memory, room);
    Block* const first = area.make(64);
    area.stop();
    EXPECT_FALSE(area.moving());
    EXPECT_TRUE(first->next()->tag.is(State::live));
    EXPECT_FALSE(first->next()->tag.has(Flag::binned));
    EXPECT_FALSE(area.cursor().hasRoom(32)); // for inline code there is nothing
    EXPECT_TRUE(area.hasRoom(32));
    first->next()->tag.set(Flag::prevFree); // as the heap that merges does
    Block* const second = area.make(32);
    EXPECT_TRUE(area.moving());
    EXPECT_TRUE(second->tag.has(Flag::prevFree));
    EXPECT_FALSE(area.takeBack(second)); // its neighbour is to know of it
    Block* const third = area.make(32);
    EXPECT_FALSE(third->tag.has(Flag::prevFree));
    EXPECT_FALSE(area.takeBack(second));
    EXPECT_TRUE(area.takeBack(third));
    EXPECT_EQ(area.make(48), third);
}

TEST(BumpArea, TheLastBlockChangesItsSizeWhereItStands) {
    Memory memory{};
    BumpArea area;
    area.enter(&memory, room);
    Block* const block = area.make(64);
    EXPECT_TRUE(area.resizeLast(block, room));
    EXPECT_EQ(area.rest(), 0U);
    EXPECT_FALSE(area.resizeLast(block, room + 16));
    EXPECT_FALSE(area.resizeLast(block, 0));
    EXPECT_FALSE(area.resizeLast(block, SIZE_MAX - 15));
    EXPECT_EQ(block->size(), room);
    area.stop();
    EXPECT_TRUE(area.resizeLast(block, 32));
    EXPECT_TRUE(block->next()->tag.is(State::live));
    EXPECT_TRUE(area.isLast(block));
    EXPECT_FALSE(area.cursor().hasRoom(32));
    EXPECT_EQ(area.rest(), room - 32);
}

TEST(BumpArea, GapBeforeAnAlignedObjectIsEmptyOrHoldsABlock) {
    for (Address block = 8; block < 4096; block += 16) {
        for (const std::size_t align : {32U, 64U, 1024U}) {
            const std::size_t gap = BumpArea::gapBefore(align, block);
            EXPECT_TRUE(gap == 0 || gap >= Block::minSize);
            EXPECT_EQ((block + gap + Tag::bytes) % align, 0U);
            EXPECT_LE(gap, align + Block::minSize);
        }
    }
}

} // namespace
} // namespace heapwright::testing

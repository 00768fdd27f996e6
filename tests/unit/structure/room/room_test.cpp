// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/source/shared_memory_heap.hpp>
#include <heapwright/structure/room/room.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace heapwright::testing {
namespace {

TEST(Room, IsNoneUntilItIsFinished) {
    alignas(16) std::array<std::byte, 4096> memory{};
    Room* const room = Room::begin(memory.data(), memory.size(), 42);
    EXPECT_EQ(room->label.address, addressOf(memory.data()));
    EXPECT_EQ(room->label.bytes, 4096U);
    EXPECT_EQ(room->label.kind, 42U);
    EXPECT_NE(room->label.magic, RoomLabel::rightMagic);
    room->finish();
    EXPECT_EQ(room->label.magic, RoomLabel::rightMagic);
}

TEST(Room, GivesOutWhatIsBehindItself) {
    alignas(16) std::array<std::byte, 4096> memory{};
    Room* const room = Room::begin(memory.data(), memory.size(), 42);
    const Stretch rest = room->memory();
    EXPECT_EQ(rest.base, addressOf(memory.data()) + sizeof(Room));
    EXPECT_EQ(rest.base + rest.bytes, addressOf(memory.data()) + 4096);
    EXPECT_EQ(room->bump.malloc(rest, 4096), nullptr);
    EXPECT_NE(room->bump.malloc(rest, 3900), nullptr);
}

TEST(Room, KindsOfHeapsDiffer) {
    constexpr std::uint64_t one = kindOfHeap<SharedMemoryHeap<4096>>();
    constexpr std::uint64_t other = kindOfHeap<SharedMemoryHeap<8192>>();
    EXPECT_NE(one, other);
    EXPECT_EQ(one, kindOfHeap<SharedMemoryHeap<4096>>());
}

TEST(Room, IsOpenIfMadeOrFound) {
    EXPECT_TRUE(isOpen(Opening::made) && isOpen(Opening::found));
    EXPECT_FALSE(isOpen(Opening::failed) || isOpen(Opening::foreign) || isOpen(Opening::taken));
    EXPECT_FALSE(isOpen(Opening::busy) || isOpen(Opening::unclean));
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/source/shared_memory_heap.hpp>
#include <heapwright/structure/shared_region/shared_region.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace heapwright::testing {
namespace {

TEST(SharedRegion, HasNoMagicNumberUntilItIsFinished) {
    alignas(16) std::array<std::byte, 4096> memory{};
    SharedRegion* const region = SharedRegion::begin(memory.data(), memory.size(), 42);
    EXPECT_EQ(region->label.address, addressOf(memory.data()));
    EXPECT_EQ(region->label.bytes, 4096U);
    EXPECT_EQ(region->label.kind, 42U);
    EXPECT_NE(region->label.magic, RegionLabel::rightMagic);
    region->finish();
    EXPECT_EQ(region->label.magic, RegionLabel::rightMagic);
}

TEST(SharedRegion, ServesTheMemoryBehindItsHeader) {
    alignas(16) std::array<std::byte, 4096> memory{};
    SharedRegion* const region = SharedRegion::begin(memory.data(), memory.size(), 42);
    const Stretch rest = region->memory();
    EXPECT_EQ(rest.base, addressOf(memory.data()) + sizeof(SharedRegion));
    EXPECT_EQ(rest.base + rest.bytes, addressOf(memory.data()) + 4096);
    EXPECT_EQ(region->bump.malloc(rest, 4096), nullptr);
    EXPECT_NE(region->bump.malloc(rest, 3900), nullptr);
}

TEST(SharedRegion, KindsOfHeapsDiffer) {
    constexpr std::uint64_t one = kindOfHeap<SharedMemoryHeap<4096>>();
    constexpr std::uint64_t other = kindOfHeap<SharedMemoryHeap<8192>>();
    EXPECT_NE(one, other);
    EXPECT_EQ(one, kindOfHeap<SharedMemoryHeap<4096>>());
}

TEST(SharedRegion, IsOpenIfMadeOrFound) {
    EXPECT_TRUE(isOpen(Opening::made) && isOpen(Opening::found));
    EXPECT_FALSE(isOpen(Opening::failed) || isOpen(Opening::foreign) || isOpen(Opening::taken));
    EXPECT_FALSE(isOpen(Opening::busy) || isOpen(Opening::unclean));
}

} // namespace
} // namespace heapwright::testing

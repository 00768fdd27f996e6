// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/superblock/superblock.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <new>

namespace heapwright::testing {
namespace {

using Block = Superblock<8 * KiB, CleanLines>;

TEST(SuperblockSlots, HaveTheHomeWordFirstAndTheOwnerNext) {
    struct alignas(8 * KiB) Memory {
        std::array<std::byte, 8 * KiB> bytes;
    };
    static Memory memory;
    auto* const block = ::new (&memory) Block(Block::layoutFor(48), 5);
    block->letTo(keyOfThread(3));
    block->owner.store(&memory, std::memory_order_relaxed);
    EXPECT_EQ(*reinterpret_cast<const OwnerTag*>(&memory), keyOfThread(3));
    EXPECT_EQ(addressOf(&block->owner), addressOf(&memory) + sizeof(OwnerTag));
    void* const object = block->take();
    EXPECT_EQ(ownerTagOf<8 * KiB>(object), keyOfThread(3));
    EXPECT_EQ(block->capacityAt(object), 48U);
    EXPECT_EQ(block->capacityAt(forward(object, 16)), 32U);
    EXPECT_EQ(block->classOfLive(object, "here"), 5U);
    EXPECT_EQ(block->count(), SuperblockLayout::of(8 * KiB, 48).count);
    EXPECT_EQ(block->partUsed(8), 0U);
}

} // namespace
} // namespace heapwright::testing

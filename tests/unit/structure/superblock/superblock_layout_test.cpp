// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/superblock/superblock_layout.hpp>

#include <gtest/gtest.h>

#include <cstddef>

namespace heapwright::testing {
namespace {

TEST(SuperblockLayout, HasAsManySlotsAsFit) {
    for (const std::size_t size : {4 * KiB, 32 * KiB, 64 * KiB}) {
        for (std::size_t slot = 16; slot <= size / 2; slot += 16) {
            const SuperblockLayout layout = SuperblockLayout::of(size, slot);
            ASSERT_GE(layout.count, 1U);
            ASSERT_EQ(layout.slot, slot);
            ASSERT_EQ(layout.first % 64, 0U);
            ASSERT_GE(layout.first, 64 + 2 * layout.count);
            ASSERT_LE(layout.first + layout.count * slot, size);
            const std::size_t more = layout.count + std::size_t{1};
            ASSERT_GT(roundUp(64 + 2 * more, 64) + more * slot, size) << "one more does not";
        }
    }
}

} // namespace
} // namespace heapwright::testing

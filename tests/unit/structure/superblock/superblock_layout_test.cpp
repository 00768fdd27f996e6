// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/linear_slots.hpp>
#include <heapwright/structure/superblock/superblock_layout.hpp>

#include <gtest/gtest.h>

#include <cstddef>

namespace heapwright::testing {
namespace {

using Fit = SuperblockFit<32 * KiB>;
using Stepped = LinearSlots<1 * KiB, 4 * KiB, 16 * KiB>;
using Fitted = LinearSlots<1 * KiB, 4 * KiB, 16 * KiB, Fit>;

std::size_t countOf(std::size_t slot) {
    return SuperblockLayout::of(32 * KiB, slot).count;
}

std::size_t endOf(std::size_t slot) {
    const SuperblockLayout layout = SuperblockLayout::of(32 * KiB, slot);
    return layout.first + layout.count * slot;
}

TEST(SuperblockFit, LeavesLessThanALineForEachSlotOrElseAWholePage) {
    for (std::size_t slot = 1 * KiB; slot <= 16 * KiB; slot += 64) {
        const std::size_t fitted = Fit::of(slot);
        ASSERT_GE(fitted, slot);
        ASSERT_EQ(fitted % 64, 0U);
        ASSERT_EQ(countOf(fitted), countOf(slot));
        ASSERT_EQ(Fit::of(fitted), fitted);
        if (fitted != slot) {
            ASSERT_LT(32 * KiB - endOf(fitted), countOf(fitted) * 64 + 64);
            ASSERT_GT(endOf(slot), 28 * KiB);
        }
    }
    for (const std::size_t asBefore : {8 * KiB, 12 * KiB, 16 * KiB}) {
        EXPECT_EQ(Fit::of(asBefore), asBefore) << "a page stays untouched";
    }
}

TEST(SuperblockFit, HoldsNoFewerObjectsOfAnySizeOnNoMorePages) {
    std::size_t more = 0;
    for (std::size_t request = 1; request <= 16 * KiB; ++request) {
        const std::size_t slot = Fitted::sizeOf(Fitted::classFor(request));
        const std::size_t before = Stepped::sizeOf(Stepped::classFor(request));
        ASSERT_GE(slot, request);
        ASSERT_GE(countOf(slot), countOf(before)) << request;
        if (countOf(slot) > countOf(before)) {
            ++more;
        } else if (slot != before) {
            ASSERT_GT(endOf(before), 28 * KiB) << request;
        }
    }
    EXPECT_GT(more, 4 * KiB);
    EXPECT_LT(Fitted::count, Stepped::count);
}

TEST(SuperblockFit, LeavesTheClassesSound) {
    for (std::size_t at = Fitted::classFor(1 * KiB) + 1; at < Fitted::count; ++at) {
        EXPECT_LE(countOf(Fitted::sizeOf(at)), countOf(Fitted::sizeOf(at - 1)));
        EXPECT_EQ(Fitted::classFor(Fitted::sizeOf(at)), at);
        EXPECT_EQ(Fitted::classFor(Fitted::sizeOf(at - 1) + 1), at);
        EXPECT_EQ(Fitted::classOf(Fitted::sizeOf(at)), at);
    }
    EXPECT_EQ(Fitted::sizeOf(Fitted::count - 1), 16 * KiB);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/area/buddy_area.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace heapwright::testing {
namespace {

template <class Area>
class BuddyAreaTest : public ::testing::Test {
protected:
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    std::unique_ptr<void, Free> memory_{std::aligned_alloc(Area::size, Area::size)};
    Area* area_ = ::new (memory_.get()) Area{};
};

using Areas = ::testing::Types<BuddyArea<4, 8>, BuddyArea<5, 16>, BuddyArea<12, 20>>;
TYPED_TEST_SUITE(BuddyAreaTest, Areas);

TYPED_TEST(BuddyAreaTest, IsLaidOutInBlocksThatAreAlignedAndFillIt) {
    std::vector<std::pair<std::size_t, std::size_t>> blocks;
    this->area_->layOut([&](std::size_t offset, std::size_t order) {
        this->area_->markFree(offset, order);
        blocks.emplace_back(offset, order);
    });
    ASSERT_FALSE(blocks.empty());
    EXPECT_GE(blocks.front().first, sizeof(TypeParam));
    std::size_t end = blocks.front().first;
    for (const auto& [offset, order] : blocks) {
        EXPECT_EQ(offset, end);
        EXPECT_EQ(offset % TypeParam::sizeOf(order), 0U);
        end = offset + TypeParam::sizeOf(order);
        // What it would merge with is a block of another order, or no block.
        EXPECT_FALSE(this->area_->isFree(offset ^ TypeParam::sizeOf(order), order));
    }
    EXPECT_EQ(end, TypeParam::size);
    EXPECT_EQ(TypeParam::sizeOf(blocks.back().second), TypeParam::largestBlock);
    std::vector<std::pair<std::size_t, std::size_t>> again;
    this->area_->forEachBlock(
        [&](std::size_t offset, std::size_t order) { again.emplace_back(offset, order); });
    EXPECT_EQ(again, blocks);
}

TYPED_TEST(BuddyAreaTest, IsFoundFromEveryAddressInIt) {
    for (std::size_t offset = 16; offset < TypeParam::size; offset += 16) {
        void* const object = this->area_->at(offset);
        ASSERT_EQ(TypeParam::of(object), this->area_);
        ASSERT_EQ(this->area_->offsetOf(object), offset);
    }
}

TYPED_TEST(BuddyAreaTest, FindsAnAreaBeforeAnObjectOnABoundary) {
    constexpr std::size_t lead = TypeParam::leadFor(minAlignment);
    auto* const before = static_cast<TypeParam*>(forward(this->area_, TypeParam::size - lead));
    EXPECT_EQ(TypeParam::of(this->area_->at(TypeParam::size)), before);
    EXPECT_GE(lead, sizeof(TypeParam));
    EXPECT_EQ(TypeParam::leadFor(4 * TypeParam::size), 4 * TypeParam::size);
}

TYPED_TEST(BuddyAreaTest, RemembersOrderAndStateOfABlock) {
    const std::size_t offset = TypeParam::largestBlock;
    this->area_->markFree(offset, 6);
    EXPECT_EQ(this->area_->orderAt(offset), 6U);
    EXPECT_TRUE(this->area_->isFree(offset, 6));
    EXPECT_FALSE(this->area_->isFree(offset, 7));
    this->area_->markLive(offset, 7);
    EXPECT_EQ(this->area_->orderAt(offset), 7U);
    EXPECT_FALSE(this->area_->isFree(offset, 7));
}

TEST(BuddyArea, RoundsRequestsUpToTheNextOrder) {
    using Area = BuddyArea<5, 16>;
    EXPECT_EQ(Area::orderFor(1), 5U);
    EXPECT_EQ(Area::orderFor(32), 5U);
    EXPECT_EQ(Area::orderFor(33), 6U);
    EXPECT_EQ(Area::orderFor(64), 6U);
    EXPECT_EQ(Area::orderFor(Area::largestBlock), 15U);
}

} // namespace
} // namespace heapwright::testing

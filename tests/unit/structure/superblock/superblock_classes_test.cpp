// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/geometric_slots.hpp>
#include <heapwright/structure/superblock/emptiness.hpp>
#include <heapwright/structure/superblock/superblock_classes.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <vector>

namespace heapwright::testing {
namespace {

using Classes = GeometricSlots<6, 5, 16, 4 * KiB>;
using Superblocks = SuperblockClasses<8 * KiB, Classes, Never, AnyLines>;

class SuperblockClassesTest : public ::testing::Test {
protected:
    Superblocks::Block& make(std::size_t sizeClass) {
        memory_.emplace_back(std::aligned_alloc(8 * KiB, 8 * KiB));
        return Superblocks::make(memory_.back().get(), sizeClass, this);
    }
    void* takeFromNew(std::size_t sizeClass) {
        superblocks_.add(make(sizeClass));
        return superblocks_[sizeClass].take();
    }
    void give(void* object) {
        [[maybe_unused]] const bool tooEmpty =
            superblocks_.give(Superblocks::Block::of(object), object);
    }

    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    std::vector<std::unique_ptr<void, Free>> memory_;
    Superblocks superblocks_;
};

TEST_F(SuperblockClassesTest, KeepEachClassApart) {
    void* const small = takeFromNew(0);
    void* const large = takeFromNew(Classes::count - 1);
    EXPECT_EQ(Superblocks::Block::of(small).capacityAt(small), 16U);
    EXPECT_EQ(Superblocks::Block::of(large).capacityAt(large), 4 * KiB);
    EXPECT_EQ(superblocks_[0].used(), 1U);
    EXPECT_EQ(superblocks_[1].used(), 0U);
    EXPECT_EQ(superblocks_[1].take(), nullptr);
}

TEST_F(SuperblockClassesTest, FindWhatIsEmptyWhateverItsClass) {
    EXPECT_EQ(superblocks_.removeEmpty(), nullptr);
    void* const one = takeFromNew(3);
    void* const other = takeFromNew(20);
    EXPECT_EQ(superblocks_.removeEmpty(), nullptr);
    give(other);
    Superblocks::Block* const block = superblocks_.removeEmpty();
    ASSERT_EQ(block, &Superblocks::Block::of(other));
    EXPECT_EQ(superblocks_[20].held(), 0U);
    Superblocks::reshape(*block, 3);
    superblocks_.add(*block);
    EXPECT_EQ(superblocks_[3].held(), 2 * block->count());
    give(one);
    EXPECT_NE(superblocks_.removeEmpty(), nullptr);
    EXPECT_NE(superblocks_.removeEmpty(), nullptr);
    EXPECT_EQ(superblocks_.removeEmpty(), nullptr);
}

TEST_F(SuperblockClassesTest, SpareOnesAreThoseOfAClassThatHasOthers) {
    void* const one = takeFromNew(3);
    give(one);
    EXPECT_EQ(superblocks_.removeSpare(), nullptr);
    superblocks_.add(make(3));
    EXPECT_NE(superblocks_.removeSpare(), nullptr);
    EXPECT_EQ(superblocks_.removeSpare(), nullptr);
}

TEST_F(SuperblockClassesTest, MeasureWhatIsFree) {
    [[maybe_unused]] void* const object = takeFromNew(Classes::classFor(1024));
    MemoryUsage usage;
    superblocks_.measure(usage);
    const auto& layout = Superblocks::layoutOf(Classes::classFor(1024));
    EXPECT_EQ(usage.heldCount, layout.count - 1U);
    EXPECT_EQ(usage.held, (layout.count - 1U) * layout.slot);
    superblocks_.clear();
    MemoryUsage after;
    superblocks_.measure(after);
    EXPECT_EQ(after.held, 0U);
}

TEST(SuperblockClasses, ChooseAClassWithRoomForTheAlignment) {
    for (std::size_t alignment = 32; alignment <= 64 * KiB; alignment *= 2) {
        for (std::size_t size = 1; size <= 5000; size += 13) {
            const std::size_t index = Superblocks::classFor(alignment, size);
            if (index == Superblocks::count) {
                ASSERT_GT(size + alignment, 4 * KiB);
                continue;
            }
            const auto& layout = Superblocks::layoutOf(index);
            for (std::size_t slot = 0; slot < layout.count; ++slot) {
                const std::size_t start = layout.first + slot * layout.slot;
                ASSERT_LE(roundUp(start, alignment) + size, start + layout.slot);
            }
        }
    }
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/aligned_block_heap.hpp>
#include <heapwright/layers/carve/superblock_heap.hpp>
#include <heapwright/layers/object/checked_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/sizeclass/exact.hpp>
#include <heapwright/sizeclass/up_to.hpp>
#include <heapwright/structure/cache/classifying_heap.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

using Slots = GeometricSlots<6, 5, 16, 4 * KiB>;
using Superblocks = SuperblockHeap<Slots, AlignedBlockHeap<8 * KiB, 1 * MiB, MmapHeap>>;
using Tagged = CheckedHeap<SizeHeap<MmapHeap>>;

TEST(ClassifyingHeap, RequiresTheGivenSizeClasses) {
    EXPECT_TRUE((ClassifyingHeap<Superblocks, Slots>));
    EXPECT_TRUE((ClassifyingHeap<Superblocks, UpTo<256, Slots>>));
    EXPECT_FALSE((ClassifyingHeap<Superblocks, Exact<4>>));
    EXPECT_FALSE((ClassifyingHeap<Superblocks, GeometricSlots<6, 5, 16, 8 * KiB>>));
    EXPECT_FALSE((ClassifyingHeap<Tagged, Slots>));
}

TEST(ClassOfLiveIn, ComesFromTheHeapOrFromTheObjectSize) {
    Superblocks superblocks;
    void* const object = superblocks.malloc(100);
    EXPECT_EQ(classOfLiveIn<Slots>(superblocks, object, "free"), Slots::classFor(100));
    EXPECT_EQ((classOfLiveIn<Exact<9>>(superblocks, object, "free")),
              Exact<9>::classOf(superblocks.getSize(object)));
    void* const inside = superblocks.memalign(64, 100);
    const std::size_t index = classOfLiveIn<Slots>(superblocks, inside, "free");
    EXPECT_TRUE(index >= Slots::count || Slots::sizeOf(index) <= superblocks.getSize(inside));
    superblocks.free(object);
    superblocks.free(inside);
}

TEST(ClassOfLiveInDeathTest, AbortsOnAnObjectThatIsNotLive) {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    Superblocks superblocks;
    void* const object = superblocks.malloc(100);
    superblocks.free(object);
    EXPECT_DEATH((void)classOfLiveIn<Slots>(superblocks, object, "free"), "double free");
    Tagged tagged;
    void* const other = tagged.malloc(100);
    EXPECT_DEATH((void)classOfLiveIn<Exact<4>>(tagged, forward(other, 16), "free"),
                 "invalid pointer");
    tagged.free(other);
}

TEST(ClassReportingHeap, IsASuperblockHeapAndNoTaggedOne) {
    EXPECT_TRUE(ClassReportingHeap<Superblocks>);
    EXPECT_FALSE(ClassReportingHeap<Tagged>);
    EXPECT_FALSE(ClassReportingHeap<MmapHeap>);
}

} // namespace
} // namespace heapwright::testing

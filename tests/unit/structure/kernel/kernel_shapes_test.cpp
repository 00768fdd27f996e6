// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/kernel/kernel_shapes.hpp>

#include <gtest/gtest.h>

#include <cstddef>

namespace heapwright::testing {
namespace {

TEST(SlabTuning, IsThatOfTheKernel) {
    EXPECT_EQ(slabTuningFor(64, 4).limit, 120U);
    EXPECT_EQ(slabTuningFor(64, 4).batch, 60U);
    EXPECT_EQ(slabTuningFor(64, 4).shared, 8U);
    EXPECT_EQ(slabTuningFor(512, 4).limit, 54U);
    EXPECT_EQ(slabTuningFor(2048, 4).limit, 24U);
    EXPECT_EQ(slabTuningFor(8192, 4).limit, 8U);
    EXPECT_EQ(slabTuningFor(8192, 4).shared, 0U);
    EXPECT_EQ(slabTuningFor(200'000, 4).limit, 1U);
    EXPECT_EQ(slabTuningFor(64, 1).shared, 0U);
}

TEST(SlabShape, TakesColoursFromTheRest) {
    const ColouredShape shape = slabShapeFor(192, false);
    EXPECT_EQ(shape.order, 0U);
    EXPECT_EQ(shape.objects, 21U);
    EXPECT_EQ(shape.colours, 2U); // 64 bytes are left
    EXPECT_EQ(slabShapeFor(64, false).colours, 1U);
}

TEST(SlabShape, IsTheSmallestForReclaimableCaches) {
    // ext4_inode_cache: seven in two pages waste less, but three fit into one.
    EXPECT_EQ(slabShapeFor(1080, true).order, 1U);
    EXPECT_EQ(slabShapeFor(1080, true).objects, 7U);
    EXPECT_EQ(slabShapeFor(1080, true, true).order, 0U);
    EXPECT_EQ(slabShapeFor(1080, true, true).objects, 3U);
    EXPECT_EQ(slabShapeFor(5000, false, true).order, 1U); // what holds none is no block for it
}

TEST(SlabShape, HasRoomForAnIndexThatKeepsTheAlignment) {
    for (std::size_t stride = 16; stride <= 64 * KiB; stride += 16) {
        const ColouredShape shape = slabShapeFor(stride, true);
        ASSERT_GE(shape.index, shape.objects * 2);
        ASSERT_EQ(shape.index % 16, 0U);
        ASSERT_LE(shape.index + shape.objects * stride, shape.bytes());
    }
}

TEST(SlubShape, IsThatOfTheKernel) {
    // What /proc/slabinfo of a machine with four processors says: objects and pages of a slab.
    EXPECT_EQ(slubShapeFor(64, 4).objects, 64U);
    EXPECT_EQ(slubShapeFor(64, 4).order, 0U);
    EXPECT_EQ(slubShapeFor(192, 4).objects, 21U);
    EXPECT_EQ(slubShapeFor(192, 4).order, 0U);
    EXPECT_EQ(slubShapeFor(512, 4).objects, 16U);
    EXPECT_EQ(slubShapeFor(512, 4).order, 1U);
    EXPECT_EQ(slubShapeFor(1024, 4).objects, 16U);
    EXPECT_EQ(slubShapeFor(1024, 4).order, 2U);
    EXPECT_EQ(slubShapeFor(4096, 4).objects, 8U);
    EXPECT_EQ(slubShapeFor(4096, 4).order, 3U);
    EXPECT_EQ(slubShapeFor(8192, 4).objects, 4U);
}

TEST(SlqbShape, WastesAQuarterAtMostOrHasTwoPages) {
    EXPECT_EQ(slqbShapeFor(256).order, 0U);
    EXPECT_EQ(slqbShapeFor(256).objects, 16U);
    EXPECT_EQ(slqbShapeFor(1500).order, 1U); // two of them leave 1,096 bytes of a page
    EXPECT_EQ(slqbShapeFor(1500).objects, 5U);
    EXPECT_EQ(slqbShapeFor(10'000).order, 2U);
    EXPECT_EQ(slqbShapeFor(10'000).objects, 1U);
}

} // namespace
} // namespace heapwright::testing

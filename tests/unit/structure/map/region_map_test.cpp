// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/coalesce_heap.hpp>
#include <heapwright/layers/object/coalesceable_heap.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/source/null_heap.hpp>
#include <heapwright/layers/source/reserve_heap.hpp>
#include <heapwright/structure/map/region_map.hpp>

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

TEST(RegionMap, ReturnsTheOwnerOfAnAddress) {
    constexpr std::size_t bytes = 3 * RegionMap::granule;
    void* const region = platform::reservePagesAt(bytes, RegionMap::granule);
    ASSERT_NE(region, nullptr);
    int owner = 0;
    EXPECT_EQ(RegionMap::ownerOf(region), nullptr);
    ASSERT_TRUE(RegionMap::enter(region, bytes, &owner));
    EXPECT_EQ(RegionMap::ownerOf(region), &owner);
    EXPECT_EQ(RegionMap::ownerOf(forward(region, bytes - 1)), &owner);
    EXPECT_NE(RegionMap::ownerOf(forward(region, bytes)), &owner);
    EXPECT_NE(RegionMap::ownerOf(backward(region, 1)), &owner);
    RegionMap::leave(region, bytes);
    EXPECT_EQ(RegionMap::ownerOf(forward(region, bytes / 2)), nullptr);
    platform::unmapPages(region, bytes);
}

TEST(RegionMap, ReturnsNullForAddressesThatCannotBeEntered) {
    int owner = 0;
    EXPECT_EQ(RegionMap::ownerOf(nullptr), nullptr);
    EXPECT_EQ(RegionMap::ownerOf(&owner), nullptr);
    EXPECT_EQ(RegionMap::ownerOf(pointerTo(~Address{0})), nullptr);
    EXPECT_EQ(RegionMap::ownerOf(pointerTo(Address{1} << 63U)), nullptr);
    EXPECT_FALSE(RegionMap::enter(pointerTo(Address{1} << 60U), RegionMap::granule, &owner));
}

TEST(RegionMap, IsEnteredAndReadByManyThreadsAtOnce) {
    std::vector<std::thread> threads;
    std::array<int, 4> wrong{};
    for (int& mine : wrong) {
        threads.emplace_back([&mine] {
            for (int i = 0; i < 300; ++i) {
                void* const region =
                    platform::reservePagesAt(RegionMap::granule, RegionMap::granule);
                if (region == nullptr || !RegionMap::enter(region, RegionMap::granule, &mine)) {
                    ++mine;
                    return;
                }
                mine += RegionMap::ownerOf(region) == &mine ? 0 : 1;
                RegionMap::leave(region, RegionMap::granule);
                platform::unmapPages(region, RegionMap::granule);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong, (std::array<int, 4>{}));
}

TEST(RegionalHeap, HasAllItsMemoryFromSourcesThatEnterIt) {
    using Blocks = CoalesceHeap<4 * KiB, CoalesceableHeap<ReserveHeap<MiB>>>;
    EXPECT_TRUE(RegionalHeap<Blocks> && RegionalHeap<ReserveHeap<MiB>>);
    EXPECT_TRUE(RegionalHeap<FreelistHeap<NullHeap>>) << "it has none";
    EXPECT_FALSE(RegionalHeap<MmapHeap>);
    EXPECT_FALSE((RegionalHeap<CoalesceHeap<4 * KiB, CoalesceableHeap<MmapHeap>>>));
}

} // namespace
} // namespace heapwright::testing

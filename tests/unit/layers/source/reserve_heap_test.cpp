// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/source/reserve_heap.hpp>

#include <support/child.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <sys/resource.h>

namespace heapwright::testing {
namespace {

using Source = ReserveHeap<8 * MiB>;

bool allZero(const void* run, std::size_t from, std::size_t to) {
    const auto* bytes = static_cast<const unsigned char*>(run);
    return std::all_of(bytes + from, bytes + to, [](unsigned char byte) { return byte == 0; });
}

TEST(ReserveHeap, LengthensARunWhereItStands) {
    Source heap;
    void* const run = heap.malloc(1000);
    ASSERT_NE(run, nullptr);
    EXPECT_EQ(addressOf(run) % RegionMap::granule, minAlignment);
    EXPECT_GE(heap.getSize(run), 1000U);
    MemoryUsage small;
    heap.measure(small);
    EXPECT_EQ(small.mapped, 4096U) << "what is only reserved is no memory";
    ASSERT_TRUE(heap.resize(run, 5 * MiB));
    EXPECT_GE(heap.getSize(run), 5 * MiB);
    EXPECT_TRUE(allZero(run, 0, 5 * MiB));
    std::memset(run, 1, heap.getSize(run));
    ASSERT_TRUE(heap.resize(run, 10'000));
    ASSERT_TRUE(heap.resize(run, 1 * MiB));
    EXPECT_TRUE(allZero(run, 20'000, 1 * MiB)) << "what was given back is zero again";
    EXPECT_FALSE(heap.resize(run, 8 * MiB)) << "that is all the region, and a tag";
    EXPECT_GE(heap.getSize(run), 1 * MiB) << "it is as it was";
    heap.free(run);
    MemoryUsage none;
    heap.measure(none);
    EXPECT_EQ(none.mapped, 0U);
}

TEST(ReserveHeap, OwnsAddressesInItsRegions) {
    Source heap;
    Source other;
    void* const run = heap.malloc(1);
    void* const second = heap.malloc(20 * MiB);
    void* const others = other.malloc(1);
    EXPECT_TRUE(heap.owns(run) && heap.owns(forward(run, 7 * MiB)));
    EXPECT_TRUE(heap.owns(second) && heap.owns(forward(second, 20 * MiB)));
    EXPECT_FALSE(heap.owns(others) || other.owns(run) || heap.owns(&heap));
    std::memset(second, 1, 20 * MiB);
    heap.free(run);
    EXPECT_FALSE(heap.owns(run));
    heap.free(second);
    other.free(others);
}

TEST(ReserveHeap, RefusesSizesBeyondAnyMemory) {
    Source heap;
    for (const volatile std::size_t size : {SIZE_MAX, SIZE_MAX / 2, std::size_t{1} << 50U}) {
        EXPECT_EQ(heap.malloc(size), nullptr);
    }
    void* const run = heap.malloc(1);
    const volatile std::size_t huge = SIZE_MAX - 8;
    EXPECT_FALSE(heap.resize(run, huge));
    heap.free(run);
}

/// Where addresses are short, regions are smaller, until not one MiB can be had.
TEST(ReserveHeap, TakesASmallerRegionWhereThereIsNoRoom) {
    const int status = statusOfChild([] {
        const rlimit limit{GiB, GiB};
        if (::setrlimit(RLIMIT_AS, &limit) != 0) {
            return false;
        }
        void* const probe = platform::mapPages(4 * MiB);
        if (probe == nullptr) { // a sanitizer has more addresses already than that
            return true;
        }
        platform::unmapPages(probe, 4 * MiB);
        ReserveHeap<16 * GiB> heap;
        void* const run = heap.malloc(1000);
        if (run == nullptr || !heap.resize(run, 200 * KiB) || heap.malloc(2 * GiB) != nullptr) {
            return false;
        }
        std::memset(run, 1, 200 * KiB);
        heap.free(run);
        return true;
    });
    EXPECT_EQ(status, 0);
}

} // namespace
} // namespace heapwright::testing

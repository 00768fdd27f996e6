// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <allocators/kingsley.hpp>
#include <allocators/kingsley_coalescing.hpp>
#include <allocators/lea.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace heapwright::testing {
namespace {

using allocators::Kingsley;
using allocators::KingsleyCoalescing;
using allocators::Lea;

template <class H>
Footprint footprintOf(H& heap) {
    Footprint footprint;
    heap.measure(footprint);
    return footprint;
}

/// Objects of one size after another, all of a size freed before the next begins.
template <class H>
std::size_t mappedAfterPhases() {
    H heap;
    std::size_t most = 0;
    for (const std::size_t size : {20U, 50U, 100U, 200U, 500U, 1000U, 2000U}) {
        std::vector<void*> objects;
        for (std::size_t bytes = 0; bytes < 4 * MiB; bytes += size) {
            objects.push_back(heap.malloc(size));
        }
        const Footprint now = footprintOf(heap);
        most = now.mapped > most ? now.mapped : most;
        for (void* const object : objects) {
            heap.free(object);
        }
    }
    return most;
}

TEST(Compositions, CoalescingMakesOneClassServeAnother) {
    const std::size_t plain = mappedAfterPhases<Kingsley>();
    EXPECT_LT(mappedAfterPhases<KingsleyCoalescing>(), plain / 2);
    EXPECT_LT(mappedAfterPhases<Lea>(), plain / 2);
}

TEST(Compositions, KingsleyServesAClassFromItsListAlone) {
    Kingsley heap;
    void* const object = heap.malloc(1000);
    heap.free(object);
    EXPECT_EQ(heap.malloc(600), object);
    EXPECT_NE(heap.malloc(500), object);
    EXPECT_EQ(heap.getSize(object), 1016U);
}

TEST(Compositions, LeaMapsTheLargeAndLearns) {
    Lea heap;
    void* const large = heap.malloc(300 * KiB);
    EXPECT_EQ(footprintOf(heap).directCount, 1U);
    heap.free(large);
    EXPECT_EQ(footprintOf(heap).directCount, 0U);
    void* const again = heap.malloc(300 * KiB);
    EXPECT_EQ(footprintOf(heap).directCount, 0U) << "such objects come and go: the heap has it";
    heap.free(again);
}

TEST(Compositions, LeaGivesMemoryBack) {
    Lea heap;
    std::vector<void*> objects;
    for (int i = 0; i < 2000; ++i) {
        objects.push_back(heap.malloc(10 * KiB));
    }
    EXPECT_GT(footprintOf(heap).mapped, 20'000 * KiB);
    for (void* const object : objects) {
        heap.free(object);
    }
    heap.trim(0);
    EXPECT_LT(footprintOf(heap).mapped, 1 * MiB);
}

TEST(Compositions, NeverTouchErrno) {
    Lea heap;
    errno = EINTR;
    EXPECT_EQ(heap.malloc(std::size_t{1} << 60U), nullptr);
    heap.free(heap.malloc(1 * MiB));
    heap.free(heap.malloc(10));
    EXPECT_EQ(errno, EINTR);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/allocators/kingsley.hpp>
#include <heapwright/allocators/kingsley_coalescing.hpp>
#include <heapwright/allocators/lea.hpp>
#include <heapwright/allocators/nested_reap.hpp>
#include <heapwright/allocators/reap.hpp>
#include <heapwright/allocators/vmalloc.hpp>
#include <heapwright/allocators/winxp.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <sys/mman.h>
#include <vector>

namespace heapwright::testing {
namespace {

using allocators::Kingsley;
using allocators::KingsleyCoalescing;
using allocators::Lea;
using allocators::NestedReap;
using allocators::Reap;
using allocators::SharedReap;
using allocators::Vmalloc;
using allocators::WinXp;

template <class H>
MemoryUsage footprintOf(H& heap) {
    MemoryUsage usage;
    heap.measure(usage);
    return usage;
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
        const MemoryUsage now = footprintOf(heap);
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
    EXPECT_LT(mappedAfterPhases<Reap>(), plain / 2);
    EXPECT_LT(mappedAfterPhases<WinXp>(), plain / 2);
    EXPECT_LT(mappedAfterPhases<Vmalloc>(), plain / 2);
}

TEST(Compositions, KingsleyServesAClassFromItsListAlone) {
    Kingsley heap;
    void* const object = heap.malloc(1000);
    heap.free(object);
    EXPECT_EQ(heap.malloc(600), object);
    EXPECT_NE(heap.malloc(500), object);
    EXPECT_EQ(heap.getSize(object), 1016U);
}

TEST(Compositions, AReapIsARegionUntilSomethingIsFreed) {
    Reap heap;
    auto* const first = static_cast<std::byte*>(heap.malloc(40));
    EXPECT_EQ(heap.malloc(100), first + 48);
    EXPECT_EQ(heap.malloc(40), first + 48 + 112);
    heap.free(first);
    EXPECT_EQ(heap.malloc(40), first);
}

TEST(Compositions, NestedReapsAreSmallUntilSomethingIsFreed) {
    EXPECT_LE(sizeof(NestedReap<MallocHeap>), 128U);
    EXPECT_LE(sizeof(SharedReap<MallocHeap>), 144U);
    EXPECT_LE(sizeof(allocators::nested_reap::Freed), 1 * KiB);
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

TEST(Compositions, LeaReturnsMemory) {
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

TEST(Compositions, WinXpServesEachSmallSizeFromItsOwnList) {
    WinXp heap;
    void* const small = heap.malloc(1000);
    void* const last = heap.malloc(2040);
    void* const wall = heap.malloc(16);
    EXPECT_EQ(heap.getSize(last), 2040U);
    heap.free(small);
    heap.free(last);
    EXPECT_NE(heap.malloc(980), small) << "not of its multiple of 16";
    EXPECT_EQ(heap.malloc(995), small) << "of its multiple, and still whole";
    EXPECT_EQ(heap.malloc(2033), last);
    heap.free(wall);
}

TEST(Compositions, WinXpServesTheLargerFromTheBestFit) {
    WinXp heap;
    void* holes[3];
    std::size_t at = 0;
    for (const std::size_t size : {9000U, 5000U, 7000U}) {
        holes[at++] = heap.malloc(size);
        EXPECT_NE(heap.malloc(16), nullptr);
    }
    for (void* const hole : holes) {
        heap.free(hole);
    }
    EXPECT_EQ(heap.malloc(6000), holes[2]);
    EXPECT_EQ(heap.malloc(8000), holes[0]);
    EXPECT_EQ(heap.malloc(4990), holes[1]);
}

TEST(Compositions, WinXpMapsTheLargestOneByOne) {
    WinXp heap;
    void* const large = heap.malloc(600 * KiB);
    EXPECT_EQ(footprintOf(heap).directCount, 1U);
    heap.free(large);
    EXPECT_EQ(footprintOf(heap).mapped, 0U);
}

TEST(Compositions, VmallocHeapsStandSideBySideAndEndAlone) {
    auto second = std::make_unique<Vmalloc>();
    Vmalloc first;
    std::vector<unsigned char*> kept;
    std::vector<void*> others;
    for (std::size_t i = 0; i < 3000; ++i) {
        kept.push_back(static_cast<unsigned char*>(first.malloc(300)));
        others.push_back(second->malloc(20 + i % 5000));
        ASSERT_TRUE(kept.back() != nullptr && others.back() != nullptr);
        std::memset(kept.back(), static_cast<int>(i % 251), 300);
        std::memset(others.back(), 0xEE, 20 + i % 5000);
    }
    for (std::size_t i = 0; i < others.size(); i += 2) {
        second->free(others[i]); // one by one where it is wanted
    }
    const std::size_t before = footprintOf(first).mapped;
    void* const page = pointerTo(roundDown(addressOf(others[1]), 4 * KiB));
    EXPECT_EQ(::msync(page, 1, MS_ASYNC), 0) << "what is live is mapped";
    second.reset(); // with half of its objects live
    EXPECT_EQ(::msync(page, 1, MS_ASYNC), -1) << "nothing is left of it";
    EXPECT_EQ(footprintOf(first).mapped, before);
    for (std::size_t i = 0; i < kept.size(); ++i) {
        ASSERT_EQ(std::count(kept[i], kept[i] + 300, i % 251), 300);
        first.free(kept[i]);
    }
}

TEST(Compositions, VmallocTakesTheBestFit) {
    Vmalloc heap;
    void* holes[3];
    std::size_t at = 0;
    for (const std::size_t size : {900U, 500U, 700U}) {
        holes[at++] = heap.malloc(size);
        EXPECT_NE(heap.malloc(16), nullptr);
    }
    for (void* const hole : holes) {
        heap.free(hole);
    }
    EXPECT_EQ(heap.malloc(600), holes[2]);
    EXPECT_EQ(heap.malloc(800), holes[0]);
    EXPECT_EQ(heap.malloc(490), holes[1]);
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

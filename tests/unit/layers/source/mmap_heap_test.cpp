// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/source/mmap_heap.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

namespace heapwright::testing {
namespace {

std::size_t mappedBy(const MmapHeap& heap) {
    MemoryUsage usage;
    heap.measure(usage);
    return usage.mapped;
}

TEST(MmapHeap, MapsAndUnmapsWholePages) {
    MmapHeap heap;
    void* const object = heap.malloc(1);
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(mappedBy(heap), platform::pageSize());
    EXPECT_EQ(heap.getSize(object), platform::pageSize() - 24);
    EXPECT_TRUE(Tag::of(object).has(Flag::direct));
    heap.free(object);
    EXPECT_EQ(mappedBy(heap), 0U);
}

TEST(MmapHeap, FindsTheMappingOfAnyAlignment) {
    MmapHeap heap;
    for (std::size_t align = 1; align <= 4 * MiB; align *= 2) {
        for (const std::size_t size : {std::size_t{1}, 3 * platform::pageSize() - 24}) {
            void* const object = heap.memalign(align, size);
            ASSERT_NE(object, nullptr);
            EXPECT_EQ(addressOf(object) % align, 0U);
            EXPECT_GE(heap.getSize(object), size);
            std::memset(object, 1, heap.getSize(object));
            heap.free(object);
            EXPECT_EQ(mappedBy(heap), 0U) << align;
        }
    }
}

TEST(MmapHeap, ResizesAndRelocatesWithTheContents) {
    MmapHeap heap;
    auto* object = static_cast<unsigned char*>(heap.malloc(100'000));
    std::memset(object, 5, 100'000);
    EXPECT_TRUE(heap.resize(object, 10'000));
    EXPECT_LT(mappedBy(heap), 20'000U);
    object = static_cast<unsigned char*>(heap.relocate(object, 5'000'000));
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(object[9'999], 5);
    object[4'999'999] = 1;
    EXPECT_GE(heap.getSize(object), 5'000'000U);
    heap.free(object);
    EXPECT_EQ(mappedBy(heap), 0U);
}

TEST(MmapHeap, RelocationKeepsAnAlignmentOrDeclines) {
    MmapHeap heap;
    for (std::size_t align = 32; align <= 64 * KiB; align *= 2) {
        void* const object = heap.memalign(align, 100);
        void* const moved = heap.relocate(object, 1 * MiB);
        if (moved != nullptr) {
            EXPECT_EQ(addressOf(moved) % align, 0U) << align;
        }
        heap.free(moved != nullptr ? moved : object);
    }
    EXPECT_EQ(mappedBy(heap), 0U);
}

TEST(MmapHeap, RefusesUnmappableSizesAndKeepsErrno) {
    MmapHeap heap;
    errno = EINTR;
    EXPECT_EQ(heap.malloc(std::size_t{1} << 60U), nullptr);
    EXPECT_EQ(heap.malloc(SIZE_MAX), nullptr);
    EXPECT_EQ(heap.memalign(1 * MiB, SIZE_MAX - 4096), nullptr);
    void* const object = heap.malloc(10);
    EXPECT_FALSE(heap.resize(object, SIZE_MAX));
    EXPECT_EQ(heap.relocate(object, std::size_t{1} << 60U), nullptr);
    heap.free(object);
    EXPECT_EQ(errno, EINTR);
}

} // namespace
} // namespace heapwright::testing

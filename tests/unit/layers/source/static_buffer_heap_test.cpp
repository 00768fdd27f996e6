// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/immortal.hpp>
#include <heapwright/layers/source/static_buffer_heap.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace heapwright::testing {
namespace {

constinit Immortal<StaticBufferHeap<4 * KiB>> global;

TEST(StaticBufferHeap, IsThereBeforeAnyCodeRuns) {
    auto& heap = global.object;
    void* const object = heap.malloc(100);
    ASSERT_NE(object, nullptr);
    EXPECT_GE(addressOf(object), addressOf(&heap));
    EXPECT_LT(addressOf(object), addressOf(&heap) + sizeof heap);
    heap.free(object);
}

TEST(StaticBufferHeap, ReturnsNullOnlyWhenItIsFull) {
    StaticBufferHeap<1 * KiB> heap;
    std::size_t count = 0;
    while (void* const object = heap.malloc(24)) {
        std::memset(object, 1, heap.getSize(object));
        ++count;
    }
    EXPECT_EQ(count, (1024U - 16U) / 32U) << "8 bytes an object, 8 at each end";
    heap.clear();
    EXPECT_NE(heap.malloc(1000), nullptr);
}

TEST(StaticBufferHeap, KnowsItsOwn) {
    StaticBufferHeap<1 * KiB> heap;
    StaticBufferHeap<1 * KiB> other;
    void* const object = heap.malloc(100);
    EXPECT_TRUE(heap.owns(object));
    EXPECT_TRUE(heap.owns(forward(object, 99)));
    EXPECT_FALSE(other.owns(object));
    EXPECT_FALSE(heap.owns(&other));
    EXPECT_FALSE(heap.owns(nullptr));
}

TEST(StaticBufferHeap, ZeroIsZeroThoughTheBufferWasUsed) {
    StaticBufferHeap<1 * KiB> heap;
    void* const dirty = heap.malloc(500);
    std::memset(dirty, 0xFF, 500);
    heap.clear();
    const auto* const zero = static_cast<unsigned char*>(heap.zalloc(900));
    ASSERT_NE(zero, nullptr);
    for (std::size_t i = 0; i < 900; ++i) {
        ASSERT_EQ(zero[i], 0) << i;
    }
}

TEST(StaticBufferHeap, SaysHowMuchOfItIsUsed) {
    StaticBufferHeap<1 * KiB> heap;
    MemoryUsage empty;
    heap.measure(empty);
    EXPECT_EQ(empty.mapped, 1024U);
    EXPECT_EQ(empty.held, 1024U);
    EXPECT_NE(heap.malloc(500), nullptr);
    MemoryUsage half;
    heap.measure(half);
    EXPECT_LT(half.held, 520U);
    heap.clear();
    EXPECT_NE(heap.malloc(1000), nullptr);
    MemoryUsage full;
    heap.measure(full);
    EXPECT_EQ(full.held, 0U);
    EXPECT_EQ(full.heldCount, 0U);
}

TEST(StaticBufferHeap, DestructorAllowsLiveObjects) {
    StaticBufferHeap<1 * KiB> heap; // destroyed with a live object: nothing to return
    EXPECT_NE(heap.malloc(100), nullptr);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/object/throw_exception_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <new>

namespace heapwright::testing {
namespace {

TEST(ThrowExceptionHeap, ThrowsWhereThereIsNoMemoryAndGoesOnAfterwards) {
    Ledger::begin(2);
    ThrowExceptionHeap<CountingHeap> heap;
    void* const first = heap.malloc(10);
    ASSERT_NE(first, nullptr);
    EXPECT_THROW((void)heap.malloc(10), std::bad_alloc);
    void* const second = heap.malloc(10);
    ASSERT_NE(second, nullptr);
    EXPECT_GE(heap.getSize(second), 10U);
    heap.free(first);
    heap.free(second);
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(ThrowExceptionHeap, ThrowsForEveryWayToAskForMemory) {
    const volatile std::size_t huge = SIZE_MAX - 100;
    ThrowExceptionHeap<MmapHeap> heap;
    EXPECT_THROW((void)heap.malloc(huge), std::bad_alloc);
    EXPECT_THROW((void)heap.zalloc(huge), std::bad_alloc);
    EXPECT_THROW((void)heap.memalign(64, huge), std::bad_alloc);
}

TEST(ThrowExceptionHeap, AnswersQuestionsAsBefore) {
    const volatile std::size_t huge = SIZE_MAX - 100;
    ThrowExceptionHeap<MmapHeap> heap;
    void* const object = heap.malloc(10);
    EXPECT_FALSE(heap.resize(object, huge));
    EXPECT_EQ(heap.relocate(object, huge), nullptr);
    heap.free(object);
}

/// A heap answers null; nothing that expects one can be put over it.
TEST(ThrowExceptionHeap, IsNoHeap) {
    EXPECT_FALSE(Heap<ThrowExceptionHeap<MmapHeap>>);
    EXPECT_TRUE(
        (requires(ThrowExceptionHeap<ChunkHeap<4096, 0, MmapHeap>> heap) { heap.clear(); }));
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/source/malloc_heap.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

namespace heapwright::testing {
namespace {

TEST(MallocHeap, PassesOnToTheSystem) {
    MallocHeap heap;
    void* const object = heap.malloc(100);
    ASSERT_NE(object, nullptr);
    EXPECT_GE(heap.getSize(object), 100U);
    std::memset(object, 1, 100);
    heap.free(object);
}

TEST(MallocHeap, AlignsAndZeroes) {
    MallocHeap heap;
    void* const aligned = heap.memalign(256, 10);
    EXPECT_EQ(addressOf(aligned) % 256, 0U);
    heap.free(aligned);
    auto* const zero = static_cast<unsigned char*>(heap.zalloc(64));
    ASSERT_NE(zero, nullptr);
    EXPECT_EQ(zero[63], 0);
    heap.free(zero);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/source/null_heap.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(NullHeap, NeverHasMemory) {
    NullHeap heap;
    EXPECT_EQ(heap.malloc(1), nullptr);
    int word = 0;
    heap.free(&word);
    heap.clear();
    EXPECT_EQ(heap.malloc(1), nullptr);
}

} // namespace
} // namespace heapwright::testing

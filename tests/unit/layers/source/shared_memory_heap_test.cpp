// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/immortal.hpp>
#include <heapwright/layers/source/shared_memory_heap.hpp>

#include <support/child.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace heapwright::testing {
namespace {

using Shared = SharedMemoryHeap<64 * KiB>;

constinit Immortal<Shared> global;

TEST(SharedMemoryHeap, AChildWritesIntoTheParentsObjects) {
    Shared heap;
    auto* const object = static_cast<unsigned char*>(heap.malloc(1000));
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(statusOfChild([&] {
                  std::memset(object, 7, 1000);
                  return heap.getSize(object) >= 1000;
              }),
              0);
    EXPECT_EQ(object[999], 7);
    heap.free(object);
}

TEST(SharedMemoryHeap, IsThereBeforeAnyCodeRuns) {
    void* const object = global.object.malloc(100);
    ASSERT_NE(object, nullptr);
    EXPECT_TRUE(global.object.owns(object));
    global.object.free(object);
}

TEST(SharedMemoryHeap, ReturnsNullWhenItIsFull) {
    Shared heap;
    EXPECT_EQ(heap.malloc(64 * KiB), nullptr) << "a little of it is its own";
    void* const most = heap.malloc(60 * KiB);
    ASSERT_NE(most, nullptr);
    std::memset(most, 0xFF, 60 * KiB);
    EXPECT_EQ(heap.malloc(8 * KiB), nullptr);
    EXPECT_EQ(heap.malloc(SIZE_MAX), nullptr);
    EXPECT_FALSE(heap.resize(most, 70 * KiB));
    EXPECT_TRUE(heap.resize(most, 100));
    heap.clear();
    const auto* const zero = static_cast<unsigned char*>(heap.zalloc(60 * KiB));
    ASSERT_NE(zero, nullptr);
    EXPECT_EQ(zero[0] | zero[60 * KiB - 1], 0);
}

TEST(SharedMemoryHeap, ReturnsNullIfTheMemoryCannotBeMapped) {
    SharedMemoryHeap<(std::size_t{1} << 60U)> heap;
    EXPECT_EQ(heap.malloc(1), nullptr);
    EXPECT_EQ(heap.zalloc(1), nullptr);
    EXPECT_EQ(heap.memalign(64, 1), nullptr);
}

/// Writes to an object right after the end of its heap. Nothing may allocate between the two: a new
/// mapping could take the address of the old one.
void writeAfterTheHeapEnded() {
    void* object = nullptr;
    {
        Shared heap;
        object = heap.malloc(100);
    }
    *static_cast<volatile char*>(object) = 1;
}

TEST(SharedMemoryHeap, UnmapsItsObjectsAtItsEnd) {
    EXPECT_DEATH(writeAfterTheHeapEnded(), "");
}

} // namespace
} // namespace heapwright::testing

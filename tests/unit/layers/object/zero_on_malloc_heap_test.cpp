// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/object/zero_on_malloc_heap.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>
#include <heapwright/layers/source/null_heap.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace heapwright::testing {
namespace {

/// Returns objects full of old contents.
class DirtyHeap : public MallocHeap {
public:
    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        void* const object = MallocHeap::malloc(size);
        return object == nullptr ? nullptr : std::memset(object, 0x41, size);
    }
    [[nodiscard]] void* mallocAtOnce(std::size_t size) noexcept {
        return size == refused ? nullptr : malloc(size);
    }
    static constexpr std::size_t refused = 99;
    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        void* const object = MallocHeap::memalign(align, size);
        return object == nullptr ? nullptr : std::memset(object, 0x41, size);
    }
};

using Heap = ZeroOnMallocHeap<1000, DirtyHeap>;

bool isFullOf(const void* object, std::size_t size, unsigned char byte) {
    const auto* const bytes = static_cast<const unsigned char*>(object);
    return std::all_of(bytes, bytes + size, [byte](unsigned char each) { return each == byte; });
}

class ZeroOnMallocHeapTest : public ::testing::Test {
protected:
    Heap heap;
};

TEST_F(ZeroOnMallocHeapTest, FillsObjectsUpToTheLimit) {
    for (const std::size_t size : {1U, 7U, 100U, 1000U}) {
        void* const object = heap.malloc(size);
        EXPECT_TRUE(isFullOf(object, size, 0)) << size;
        heap.free(object);
    }
    void* const aligned = heap.memalign(256, 300);
    EXPECT_EQ(addressOf(aligned) % 256, 0U);
    EXPECT_TRUE(isFullOf(aligned, 300, 0));
    heap.free(aligned);
}

TEST_F(ZeroOnMallocHeapTest, DoesNotTouchLargerObjects) {
    void* const object = heap.malloc(1001);
    EXPECT_TRUE(isFullOf(object, 1001, 0x41));
    heap.free(object);
}

TEST_F(ZeroOnMallocHeapTest, ServesShortObjectsAtOnce) {
    for (std::size_t size = 1; size <= 300; ++size) {
        void* const object = heap.mallocAtOnce(size);
        EXPECT_EQ(object == nullptr, size == DirtyHeap::refused || size > 256) << size;
        if (object != nullptr) {
            EXPECT_TRUE(isFullOf(object, size, 0)) << size;
            heap.free(object);
        }
    }
}

TEST_F(ZeroOnMallocHeapTest, PassesOnARefusal) {
    EXPECT_EQ((ZeroOnMallocHeap<1000, NullHeap>().malloc(10)), nullptr);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/object/align_heap.hpp>
#include <heapwright/layers/source/allocator_heap.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory_resource>
#include <new>
#include <vector>

namespace heapwright::testing {
namespace {

/// An allocator that counts, checks its arguments, and throws where it has nothing.
struct Record {
    static inline std::map<void*, std::size_t> live;
    static inline std::size_t wrong = 0;
    static inline bool empty = false;
};

template <class T>
struct StrictAllocator {
    using value_type = T;

    StrictAllocator() = default;
    template <class U>
    StrictAllocator(const StrictAllocator<U>& /*other*/) {}

    T* allocate(std::size_t count) {
        if (Record::empty) {
            throw std::bad_alloc();
        }
        T* const block = std::allocator<T>().allocate(count);
        Record::live[block] = count;
        return block;
    }
    void deallocate(T* block, std::size_t count) {
        const auto entry = Record::live.find(block);
        if (entry == Record::live.end() || entry->second != count) {
            ++Record::wrong;
            return;
        }
        Record::live.erase(entry);
        std::allocator<T>().deallocate(block, count);
    }
    bool operator==(const StrictAllocator&) const = default;
};

using Strict = AllocatorHeap<StrictAllocator<char>>;

TEST(AllocatorHeap, DeallocatesWithTheAllocatedCount) {
    Strict heap;
    std::vector<void*> objects;
    for (std::size_t size = 1; size < 200; size += 7) {
        objects.push_back(heap.malloc(size));
        ASSERT_NE(objects.back(), nullptr);
        EXPECT_EQ(addressOf(objects.back()) % 16, 0U);
        EXPECT_GE(heap.getSize(objects.back()), size);
        std::memset(objects.back(), 1, heap.getSize(objects.back()));
    }
    for (void* const object : objects) {
        heap.free(object);
    }
    EXPECT_TRUE(Record::live.empty());
    EXPECT_EQ(Record::wrong, 0U);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.mapped, 0U);
}

TEST(AllocatorHeap, ReturnsNullIfTheAllocatorThrows) {
    Strict heap;
    Record::empty = true;
    EXPECT_EQ(heap.malloc(10), nullptr);
    Record::empty = false;
    heap.free(heap.malloc(10));
    EXPECT_TRUE(Record::live.empty());
}

TEST(AllocatorHeap, RefusesSizesBeyondAnyMemory) {
    AllocatorHeap<std::allocator<int>> heap;
    for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 20, SIZE_MAX / 2 + 1, SIZE_MAX / 2}) {
        const volatile std::size_t asked = size;
        EXPECT_EQ(heap.malloc(asked), nullptr) << size;
    }
}

TEST(AllocatorHeap, IsASourceLikeAnyOther) {
    {
        ChunkHeap<4096, 0, Strict> chunks;
        for (int i = 0; i < 1000; ++i) {
            std::memset(chunks.malloc(100), 1, 100);
        }
        AlignHeap<Strict> aligned;
        void* const object = aligned.memalign(256, 10);
        EXPECT_EQ(addressOf(object) % 256, 0U);
        aligned.free(object);
    }
    EXPECT_TRUE(Record::live.empty());
    AllocatorHeap<std::pmr::polymorphic_allocator<long>> dynamic;
    dynamic.free(dynamic.malloc(100));
}

TEST(AllocatorHeap, FreesForeignObjectsIfAllAllocatorsAreEqual) {
    EXPECT_TRUE(ForeignFreeHeap<AllocatorHeap<std::allocator<int>>>);
    EXPECT_FALSE(ForeignFreeHeap<AllocatorHeap<std::pmr::polymorphic_allocator<int>>>);
}

} // namespace
} // namespace heapwright::testing

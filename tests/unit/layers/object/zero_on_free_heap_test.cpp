// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/object/zero_on_free_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace heapwright::testing {
namespace {

using Chunks = ChunkHeap<64 * KiB, 8, CountingHeap>; // never takes memory back
using Heap = ZeroOnFreeHeap<SizeHeap<Chunks>>;

unsigned char* filled(Heap& heap, std::size_t size) {
    auto* const object = static_cast<unsigned char*>(heap.malloc(size));
    std::memset(object, 0xAA, heap.getSize(object));
    return object;
}

bool isZero(const unsigned char* bytes, std::size_t count) {
    return std::all_of(bytes, bytes + count, [](unsigned char byte) { return byte == 0; });
}

TEST(ZeroOnFreeHeap, ClearsFreedObjects) {
    Ledger::begin();
    Heap heap;
    for (const std::size_t size : {1U, 100U, 5000U}) {
        unsigned char* const object = filled(heap, size);
        const std::size_t room = heap.getSize(object);
        heap.free(object);
        EXPECT_TRUE(isZero(object, room));
    }
}

TEST(ZeroOnFreeHeap, ClearsTheLostEndOfAnObject) {
    Ledger::begin();
    Heap heap;
    unsigned char* const object = filled(heap, 1000);
    const std::size_t room = heap.getSize(object);
    ASSERT_TRUE(heap.resize(object, 600));
    EXPECT_TRUE(isZero(object + 600, room - 600));
    EXPECT_EQ(object[599], 0xAA);
    EXPECT_FALSE(heap.resize(object, room / 2)) << "it would keep too much: it is to move";
    EXPECT_EQ(object[599], 0xAA) << "and nothing has changed";
    EXPECT_FALSE(heap.resize(object, room + 1));
    EXPECT_TRUE(heap.resize(object, room));
    heap.free(object);
    EXPECT_TRUE(isZero(object, room));
}

TEST(ZeroOnFreeHeap, LetsObjectsGrowAndMoveByTheirPages) {
    ZeroOnFreeHeap<MmapHeap> heap;
    auto* object = static_cast<unsigned char*>(heap.malloc(100'000));
    object[0] = 7;
    object = static_cast<unsigned char*>(heap.relocate(object, 10'000'000));
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(object[0], 7);
    heap.free(object);
}

} // namespace
} // namespace heapwright::testing

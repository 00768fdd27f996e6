// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What all the layers that let freed objects wait in a list owe alike.
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/reuse/adapt_heap.hpp>
#include <heapwright/layers/reuse/bounded_freelist_heap.hpp>
#include <heapwright/layers/reuse/dl_list.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/reuse/random_freelist_heap.hpp>
#include <heapwright/layers/source/null_heap.hpp>
#include <heapwright/structure/list/fifo_list.hpp>
#include <heapwright/structure/list/lifo_list.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace heapwright::testing {
namespace {

struct Plain {
    template <class Source>
    using Over = FreelistHeap<Source>;
};

struct Linked {
    template <class Source>
    using Over = DLList<Source>;
};

struct Bounded {
    template <class Source>
    using Over = BoundedFreelistHeap<4, Source>;
};

struct Random {
    template <class Source>
    using Over = RandomFreelistHeap<8, Source>;
};

template <class Waiting>
struct Adapted {
    template <class Source>
    using Over = AdaptHeap<Waiting, Source>;
};

/// Every list.
template <class List>
class Lists : public ::testing::Test {};
using All = ::testing::Types<Plain, Linked, Bounded, Random, Adapted<LifoList>, Adapted<FifoList>>;
TYPED_TEST_SUITE(Lists, All, );

/// The lists for objects of several sizes.
template <class List>
class MixedLists : public ::testing::Test {};
using Mixed = ::testing::Types<Linked, Bounded, Random, Adapted<LifoList>, Adapted<FifoList>>;
TYPED_TEST_SUITE(MixedLists, Mixed, );

/// Those of them that fetch no object before a request.
template <class List>
class LazyLists : public ::testing::Test {};
using Lazy = ::testing::Types<Linked, Bounded, Adapted<LifoList>, Adapted<FifoList>>;
TYPED_TEST_SUITE(LazyLists, Lazy, );

TYPED_TEST(Lists, ClearDropsWaitingObjects) {
    Ledger::begin();
    typename TypeParam::template Over<ChunkHeap<4 * KiB, 0, CountingHeap>> heap;
    std::vector<void*> objects(20);
    for (void*& object : objects) {
        object = heap.malloc(64);
    }
    for (void* const object : objects) {
        heap.free(object);
    }
    heap.clear();
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(heap.mallocHeld(64), nullptr);
    EXPECT_NE(heap.malloc(64), nullptr);
}

TYPED_TEST(Lists, OverNullHeapServeOnlyFreedObjects) {
    using List = typename TypeParam::template Over<NullHeap>;
    EXPECT_TRUE(CacheOnlyHeap<List>);
    alignas(16) unsigned char memory[32];
    List heap;
    EXPECT_EQ(heap.malloc(32), nullptr);
    heap.free(memory);
    EXPECT_EQ(heap.malloc(32), memory);
    EXPECT_EQ(heap.mallocHeld(32), nullptr);
    heap.free(memory);
    EXPECT_EQ(heap.mallocHeld(32), memory);
}

TYPED_TEST(MixedLists, NeverReturnAnObjectThatMayBeTooSmall) {
    Ledger::begin();
    typename TypeParam::template Over<CountingHeap> heap;
    heap.free(heap.malloc(40));
    void* const larger = heap.malloc(41);
    EXPECT_EQ(Ledger::the().live.at(larger), 41U);
    heap.free(larger);
    for (int i = 0; i < 20; ++i) {
        EXPECT_GE(Ledger::the().live.at(heap.malloc(40)), 40U);
    }
}

TYPED_TEST(LazyLists, FreeWaitingObjectsWhenThereIsNoMemory) {
    Ledger::begin(2);
    typename TypeParam::template Over<CountingHeap> heap;
    heap.free(heap.malloc(32));
    void* const large = heap.malloc(64); // refused, then granted
    EXPECT_NE(large, nullptr);
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    EXPECT_EQ(Ledger::the().requests, 3U);
    Ledger::the().refuse = Ledger::all;
    EXPECT_EQ(heap.malloc(64), nullptr);
    heap.free(large);
    EXPECT_TRUE(heap.flush());
    EXPECT_FALSE(heap.flush());
    EXPECT_TRUE(Ledger::the().live.empty());
}

TYPED_TEST(LazyLists, ClearObjectsOfZalloc) {
    Ledger::begin();
    typename TypeParam::template Over<ZeroingCountingHeap> heap;
    void* const object = heap.zalloc(32);
    ASSERT_NE(object, nullptr);
    std::memset(object, 7, 32);
    heap.free(object);
    auto* const again = static_cast<unsigned char*>(heap.zalloc(32));
    EXPECT_EQ(again, object);
    for (std::size_t i = 0; i < 32; ++i) {
        EXPECT_EQ(again[i], 0) << i;
    }
    auto* const fresh = static_cast<unsigned char*>(heap.zalloc(32));
    EXPECT_EQ(fresh[0], 0);
    heap.free(again);
    heap.free(fresh);
}

TYPED_TEST(LazyLists, MeasureWaitingObjects) {
    Ledger::begin();
    typename TypeParam::template Over<CountingHeap> heap;
    void* const first = heap.malloc(48);
    heap.free(heap.malloc(48));
    heap.free(first);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.heldCount, 2U);
    EXPECT_EQ(usage.held, 96U);
    EXPECT_EQ(usage.mapped, 96U);
}

} // namespace
} // namespace heapwright::testing

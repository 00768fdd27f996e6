// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/coalesce_heap.hpp>
#include <heapwright/layers/combine/select_mmap_heap.hpp>
#include <heapwright/layers/combine/strict_seg_heap.hpp>
#include <heapwright/layers/object/checked_heap.hpp>
#include <heapwright/layers/object/coalesceable_heap.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/source/null_heap.hpp>
#include <heapwright/layers/source/reserve_heap.hpp>
#include <heapwright/layers/thread/arena_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/sizeclass/exact.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

using Below = CoalesceHeap<4 * KiB, CoalesceableHeap<CountingHeap>>;
template <class Limit>
using Select = SelectMmapHeap<Limit, MmapHeap, Below>;

TEST(SelectMmapHeap, MapsFromTheLimitOn) {
    Ledger::begin();
    Select<FixedLimit<10'000>> heap;
    void* const small = heap.malloc(9'999);
    void* const large = heap.malloc(10'000);
    EXPECT_FALSE(Tag::of(small).has(Flag::direct));
    EXPECT_TRUE(Tag::of(large).has(Flag::direct));
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    heap.free(large);
    heap.free(small);
}

TEST(SelectMmapHeap, AMappedObjectIsAtHomeWithNoThread) {
    using Space =
        LockedHeap<FutexLock,
                   CheckedHeap<CoalesceHeap<4 * KiB, CoalesceableHeap<ReserveHeap<4 * MiB>>>>>;
    SelectMmapHeap<FixedLimit<10'000>, CheckedHeap<MmapHeap>, ArenaHeap<ByThread<4>, Space>> heap;
    void* const small = heap.malloc(100);
    void* const large = heap.malloc(20'000);
    EXPECT_TRUE(heap.isHome(small));
    EXPECT_FALSE(heap.isHome(large));
    heap.free(large);
    heap.free(small);
    EXPECT_FALSE(HomeHeap<Select<FixedLimit<10'000>>>) << "the heap below has none";
}

TEST(SelectMmapHeap, ClearsOnlyUsedMemory) {
    Ledger::begin();
    Select<FixedLimit<10'000>> heap;
    for (const std::size_t size : {std::size_t{100}, std::size_t{20'000}}) {
        auto* const bytes = static_cast<unsigned char*>(heap.zalloc(size));
        for (std::size_t i = 0; i < size; ++i) {
            ASSERT_EQ(bytes[i], 0);
        }
        heap.free(bytes);
    }
}

TEST(SelectMmapHeap, LetsTheLimitLearn) {
    Ledger::begin();
    Select<RisingLimit<10'000, 100'000>> heap;
    void* const first = heap.malloc(50'000);
    EXPECT_TRUE(Tag::of(first).has(Flag::direct));
    heap.free(first);
    void* const second = heap.malloc(50'000);
    EXPECT_FALSE(Tag::of(second).has(Flag::direct));
    heap.free(second);
}

TEST(SelectMmapHeap, MovesPagesOfTheLargeOnly) {
    Ledger::begin();
    Select<FixedLimit<10'000>> heap;
    auto* large = static_cast<unsigned char*>(heap.malloc(20'000));
    large[19'999] = 3;
    large = static_cast<unsigned char*>(heap.relocate(large, 4 * MiB));
    ASSERT_NE(large, nullptr);
    EXPECT_EQ(large[19'999], 3);
    EXPECT_FALSE(heap.resize(large, 100)) << "far below the limit it has to leave";
    EXPECT_EQ(heap.relocate(large, 100), nullptr);
    heap.free(large);
    void* const small = heap.malloc(100);
    EXPECT_EQ(heap.relocate(small, 200), nullptr);
    heap.free(small);
}

TEST(SelectMmapHeap, LetsAnObjectThatGrowsToTheLimitMoveOut) {
    Ledger::begin();
    Select<FixedLimit<10'000>> heap;
    void* const object = heap.malloc(100);
    EXPECT_TRUE(heap.resize(object, 2'000)) << "there is room behind it";
    EXPECT_FALSE(heap.resize(object, 10'000));
    EXPECT_EQ(heap.getSize(object), 2'008U);
    heap.free(object);
}

TEST(SelectMmapHeap, AsksBelowWhereMappingFails) {
    Ledger::begin();
    SelectMmapHeap<FixedLimit<1>, MmapHeap, Below> heap;
    EXPECT_EQ(heap.malloc(std::size_t{1} << 60U), nullptr) << "and passes on that it has none";
    EXPECT_EQ(Ledger::the().live.size(), 0U);
}

TEST(SelectMmapHeap, RecyclesReusedObjectsOnly) {
    Ledger::begin();
    using Lists = StrictSegHeap<Exact<4>, FreelistHeap<NullHeap>, Below>;
    SelectMmapHeap<FixedLimit<10'000>, MmapHeap, Lists> heap;
    int recycled = 0;
    const auto count = [&](void* /*object*/) { ++recycled; };
    heap.free(heap.malloc(24, count));
    heap.free(heap.malloc(20'000, count));
    EXPECT_EQ(recycled, 0) << "a new block, and a mapping";
    heap.free(heap.malloc(24, count));
    EXPECT_EQ(recycled, 1) << "it was on a list";
}

} // namespace
} // namespace heapwright::testing

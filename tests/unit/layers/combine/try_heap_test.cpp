// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/combine/try_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/source/static_buffer_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace heapwright::testing {
namespace {

using Buffer = StaticBufferHeap<1 * KiB>;
using Counted = TryHeap<Buffer, SizeHeap<CountingHeap>>;

TEST(TryHeap, AsksTheSuperheapOnlyWhenTheFirstHasNone) {
    Ledger::begin();
    Counted heap;
    void* const small = heap.malloc(500);
    EXPECT_EQ(Ledger::the().requests, 0U);
    void* const large = heap.malloc(600);
    EXPECT_EQ(Ledger::the().requests, 1U);
    EXPECT_EQ(heap.getSize(small), 504U);
    EXPECT_GE(heap.getSize(large), 600U);
    heap.free(large);
    EXPECT_TRUE(Ledger::the().live.empty());
    heap.free(small);
    void* const again = heap.malloc(900); // so the first has got it back
    EXPECT_EQ(again, small);
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(TryHeap, IsNullWhenNeitherHasMemory) {
    Ledger::begin(Ledger::all);
    Counted heap;
    EXPECT_EQ(heap.malloc(2000), nullptr);
    EXPECT_EQ(heap.malloc(SIZE_MAX - 8), nullptr);
    EXPECT_NE(heap.malloc(100), nullptr);
}

TEST(TryHeap, ReturnsNullIfTheHeapBelowDoes) {
    for (std::size_t refuse = 1; refuse <= 5; ++refuse) {
        Ledger::begin(refuse);
        Counted heap;
        for (std::size_t request = 1; request <= 5; ++request) {
            void* const object = heap.malloc(2000);
            EXPECT_EQ(object == nullptr, request == refuse);
            if (object != nullptr) {
                heap.free(object);
            }
        }
        EXPECT_TRUE(Ledger::the().live.empty());
    }
}

TEST(TryHeap, ZeroAndAlignmentFromEither) {
    TryHeap<Buffer, MmapHeap> heap;
    for (int i = 0; i < 3; ++i) {
        auto* const zero = static_cast<unsigned char*>(heap.zalloc(400));
        ASSERT_NE(zero, nullptr);
        EXPECT_EQ(zero[0] | zero[399], 0);
        EXPECT_EQ(addressOf(heap.memalign(256, 50)) % 256, 0U);
    }
}

TEST(TryHeap, ObjectsGrowWhereTheyAre) {
    TryHeap<Buffer, MmapHeap> heap;
    void* const first = heap.malloc(100);
    void* const second = heap.malloc(2000);
    EXPECT_TRUE(heap.resize(first, 300));
    EXPECT_FALSE(heap.resize(first, 3000)) << "it is too large for its heap";
    EXPECT_EQ(heap.relocate(first, 3000), nullptr) << "and nobody moves it to the other";
    EXPECT_TRUE(heap.resize(second, 3000));
    void* const moved = heap.relocate(second, 1 * MiB);
    ASSERT_NE(moved, nullptr);
    EXPECT_GE(heap.getSize(moved), 1 * MiB);
    heap.free(moved);
    heap.free(first);
}

TEST(TryHeap, FillsWhereTheFirstKnowsNothingOfZero) {
    Ledger::begin();
    using First = LockedHeap<FutexLock, Buffer>; // passes `owns` on; hide `zalloc` behind a list
    TryHeap<First, ZeroingCountingHeap> heap;
    void* const dirty = heap.malloc(500);
    std::memset(dirty, 0xFF, 500);
    heap.free(dirty);
    const auto* const zero = static_cast<unsigned char*>(heap.zalloc(500));
    ASSERT_NE(zero, nullptr);
    EXPECT_EQ(zero[0] | zero[499], 0);
    EXPECT_EQ(Ledger::the().requests, 0U);
}

TEST(TryHeap, ClearsAndOwnsBoth) {
    TryHeap<Buffer, StaticBufferHeap<4 * KiB>> heap;
    void* const first = heap.malloc(900);
    void* const second = heap.malloc(3000);
    EXPECT_TRUE(heap.owns(first));
    EXPECT_TRUE(heap.owns(second));
    EXPECT_FALSE(heap.owns(&heap));
    heap.clear();
    EXPECT_EQ(heap.malloc(900), first);
    EXPECT_EQ(heap.malloc(3000), second);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.mapped, 5 * KiB);
}

TEST(TryHeap, ForwardsForkAndFlushToHeapsThatHaveThem) {
    TryHeap<Buffer, LockedHeap<FutexLock, FreelistHeap<MmapHeap>>> heap;
    static_assert(ForkableHeap<decltype(heap)> && FlushableHeap<decltype(heap)>);
    static_assert(!HoldingHeap<TryHeap<Buffer, MmapHeap>>);
    static_assert(!ConcurrentHeap<decltype(heap)>, "the first is not");
    static_assert(ConcurrentHeap<TryHeap<LockedHeap<FutexLock, Buffer>, MallocHeap>>);
    void* const object = heap.malloc(2000);
    heap.beforeFork();
    heap.afterForkInParent();
    heap.beforeFork();
    heap.afterForkInChild();
    heap.free(object);
    EXPECT_EQ(heap.mallocHeld(2000), object);
    heap.free(object);
    EXPECT_TRUE(heap.flush());
    EXPECT_EQ(heap.mallocHeld(2000), nullptr);
}

} // namespace
} // namespace heapwright::testing

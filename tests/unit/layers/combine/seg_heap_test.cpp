// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/coalesce_heap.hpp>
#include <heapwright/layers/combine/seg_heap.hpp>
#include <heapwright/layers/object/coalesceable_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/source/null_heap.hpp>
#include <heapwright/sizeclass/exact.hpp>
#include <heapwright/sizeclass/power_of_two.hpp>

#include <support/counting_heap.hpp>
#include <support/history.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace heapwright::testing {
namespace {

using Nothing = FreelistHeap<NullHeap>;
using Plain = SegHeap<PowerOfTwo<8>, Nothing, SizeHeap<CountingHeapAt<8>>>;
using Splitting =
    SegHeap<Exact<60>, Nothing, CoalesceHeap<4 * KiB, CoalesceableHeap<CountingHeap>>>;

TEST(SegHeap, ServesFromItsClassFirstAndThenFromTheNextUpward) {
    Ledger::begin();
    Plain heap;
    void* const large = heap.malloc(1000);
    void* const middle = heap.malloc(200);
    void* const exact = heap.malloc(100);
    for (void* const object : {large, middle, exact}) {
        heap.free(object);
    }
    EXPECT_EQ(heap.malloc(70), exact);
    EXPECT_EQ(heap.malloc(70), middle) << "it leaves its class";
    EXPECT_EQ(heap.getSize(middle), 248U) << "and keeps its size";
    EXPECT_EQ(heap.malloc(70), large);
    EXPECT_EQ(Ledger::the().requests, 3U);
    void* const fresh = heap.malloc(70);
    EXPECT_EQ(Ledger::the().requests, 4U);
    EXPECT_EQ(heap.getSize(fresh), 120U) << "what is new has the size of the class";
    heap.free(middle);
    EXPECT_EQ(heap.malloc(240), middle) << "it waits where its real size belongs";
}

TEST(SegHeap, NeverServesFromASmallerClass) {
    Ledger::begin();
    Plain heap;
    heap.free(heap.malloc(100));
    void* const larger = heap.malloc(121);
    EXPECT_GE(heap.getSize(larger), 121U);
    EXPECT_EQ(Ledger::the().requests, 2U);
}

TEST(SegHeap, ReturnsTheRestIfTheHeapBelowCanSplit) {
    Ledger::begin();
    Splitting heap;
    void* const large = heap.malloc(900);
    void* const wall = heap.malloc(16);
    heap.free(large);
    void* const small = heap.malloc(40);
    EXPECT_EQ(small, large);
    EXPECT_EQ(heap.getSize(small), 40U);
    EXPECT_EQ(heap.malloc(500), forward(large, 48)) << "the rest of it";
    heap.free(wall);
}

TEST(SegHeap, LeavesALargerObjectWholeWhereTheHeapBelowWouldAskTheSystem) {
    SegHeap<PowerOfTwo<16>, Nothing, MmapHeap> heap;
    void* const large = heap.malloc(100'000);
    heap.free(large);
    EXPECT_EQ(heap.mallocHeld(24), large);
    EXPECT_GE(heap.getSize(large), 100'000U);
    heap.free(large);
}

TEST(SegHeap, MergesWaitingObjectsBeforeItFetches) {
    Ledger::begin();
    Splitting heap;
    std::vector<void*> small;
    for (int i = 0; i < 300; ++i) {
        small.push_back(heap.malloc(24));
    }
    const std::size_t before = Ledger::the().requests;
    for (void* const object : small) {
        heap.free(object);
    }
    EXPECT_NE(heap.malloc(4000), nullptr) << "which is beyond the classes";
    EXPECT_EQ(Ledger::the().requests, before);
}

TEST(SegHeap, PassesLargerObjectsBothWays) {
    Ledger::begin();
    Plain heap;
    void* const object = heap.malloc(10'000);
    heap.free(object);
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(heap.mallocHeld(10'000), nullptr);
}

TEST(SegHeap, ResizesInPlaceWhileNotTooMuchIsLost) {
    Ledger::begin();
    Plain heap;
    void* const object = heap.malloc(500);
    EXPECT_TRUE(heap.resize(object, 504));
    EXPECT_FALSE(heap.resize(object, 505));
    EXPECT_TRUE(heap.resize(object, 260));
    EXPECT_FALSE(heap.resize(object, 100));
    heap.free(object);
    Splitting splitting;
    void* const other = splitting.malloc(500);
    EXPECT_TRUE(splitting.resize(other, 40));
    EXPECT_EQ(splitting.getSize(other), 40U);
    splitting.free(other);
}

TEST(SegHeap, ClearsReusedObjects) {
    Ledger::begin();
    SegHeap<PowerOfTwo<8>, Nothing, SizeHeap<ZeroingCountingHeap>> heap;
    void* const object = heap.malloc(300);
    std::memset(object, 0xFF, heap.getSize(object));
    heap.free(object);
    auto* const again = static_cast<unsigned char*>(heap.zalloc(100));
    EXPECT_EQ(again, object);
    for (std::size_t i = 0; i < 100; ++i) {
        ASSERT_EQ(again[i], 0);
    }
    heap.free(again);
}

TEST(SegHeap, HoldsNothingAfterFlushAndClear) {
    Ledger::begin();
    {
        Splitting heap;
        heap.free(heap.malloc(24));
        EXPECT_TRUE(heap.flush());
        EXPECT_FALSE(heap.flush());
        heap.free(heap.malloc(24));
        ASSERT_NE(heap.malloc(24), nullptr);
        heap.clear();
        EXPECT_TRUE(Ledger::the().live.empty());
        EXPECT_EQ(heap.mallocHeld(24), nullptr);
        runHistory(heap, 9);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(SegHeap, ReportsWaitingObjects) {
    Ledger::begin();
    Plain heap;
    void* const one = heap.malloc(100);
    void* const two = heap.malloc(1000);
    heap.free(one);
    heap.free(two);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.heldCount, 2U);
    EXPECT_EQ(usage.held, 120U + 1016U);
}

} // namespace
} // namespace heapwright::testing

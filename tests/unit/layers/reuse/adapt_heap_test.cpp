// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/combine/strict_seg_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/reuse/adapt_heap.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>
#include <heapwright/layers/source/null_heap.hpp>
#include <heapwright/sizeclass/power_of_two.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

using Chunks = ChunkHeap<4 * KiB, 0, CountingHeap>; // knows no sizes

template <class Waiting, class Super>
concept Adaptable = requires { typename AdaptHeap<Waiting, Super>; };
static_assert(Adaptable<LifoList, NullHeap> && Adaptable<FifoList, Chunks>);
static_assert(Adaptable<BestFitTree, CountingHeap> && !Adaptable<BestFitTree, Chunks>);
static_assert(!Adaptable<int, CountingHeap>);

TEST(AdaptHeap, GivesInTheOrderOfItsDictionary) {
    Ledger::begin();
    AdaptHeap<LifoList, CountingHeap> last;
    AdaptHeap<FifoList, CountingHeap> first;
    void* const one = last.malloc(32);
    void* const two = last.malloc(32);
    last.free(one);
    last.free(two);
    EXPECT_EQ(last.malloc(32), two);
    EXPECT_EQ(last.malloc(32), one);
    void* const three = first.malloc(32);
    void* const four = first.malloc(32);
    first.free(three);
    first.free(four);
    EXPECT_EQ(first.malloc(32), three);
    EXPECT_EQ(first.malloc(32), four);
    EXPECT_EQ(Ledger::the().requests, 4U);
    for (void* const object : {one, two}) {
        last.free(object);
    }
    for (void* const object : {three, four}) {
        first.free(object);
    }
}

TEST(AdaptHeap, GivesTheBestFitOfATree) {
    Ledger::begin();
    AdaptHeap<BestFitTree, CountingHeap> heap;
    void* const large = heap.malloc(1000);
    void* const small = heap.malloc(100);
    heap.free(large);
    heap.free(small);
    EXPECT_EQ(heap.malloc(90), small);
    EXPECT_EQ(heap.malloc(90), large) << "better too large than nothing";
    void* const fresh = heap.malloc(90);
    EXPECT_EQ(Ledger::the().requests, 3U);
    for (void* const object : {large, small, fresh}) {
        heap.free(object);
    }
}

TEST(AdaptHeap, AListNeverReturnsAnObjectThatMayBeTooSmall) {
    Ledger::begin();
    AdaptHeap<LifoList, CountingHeap> heap;
    void* const small = heap.malloc(40);
    heap.free(small);
    void* const larger = heap.malloc(41);
    EXPECT_NE(larger, small);
    heap.free(larger);
    void* const again = heap.malloc(40);
    EXPECT_EQ(again, larger) << "which is large enough";
    heap.free(again);
}

TEST(AdaptHeap, RaisesRequestsToTheRoomForItsLinks) {
    Ledger::begin();
    {
        AdaptHeap<BestFitTree, CountingHeap> tree;
        AdaptHeap<FifoList, CountingHeap> list;
        void* const object = tree.malloc(1);
        void* const other = list.malloc(0);
        EXPECT_EQ(Ledger::the().live.at(object), 24U);
        EXPECT_EQ(Ledger::the().live.at(other), 16U);
        tree.free(object);
        list.free(other);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

/// A class of 8 bytes has no room for two links, so it gets no requests.
TEST(AdaptHeap, WorksAsTheListOfAClassThatWouldBeTooSmall) {
    Ledger::begin();
    using Lists = StrictSegHeap<PowerOfTwo<4>, AdaptHeap<FifoList, NullHeap>,
                                SizeHeap<ChunkHeap<4 * KiB, 8, CountingHeap>>>;
    Lists heap;
    auto* const object = static_cast<unsigned char*>(heap.malloc(1));
    auto* const next = static_cast<unsigned char*>(heap.malloc(1));
    EXPECT_EQ(heap.getSize(object), 24U);
    heap.free(object);
    heap.free(next);
    EXPECT_EQ(heap.getSize(object), 24U) << "the tag is as it was";
    EXPECT_EQ(heap.malloc(8), object);
}

TEST(AdaptHeap, TakesAnObjectOutOfTheMiddle) {
    Ledger::begin();
    AdaptHeap<LifoList, CountingHeap> heap;
    void* const one = heap.malloc(32);
    void* const two = heap.malloc(32);
    heap.free(one);
    heap.free(two);
    heap.remove(one);
    EXPECT_EQ(heap.malloc(32), two);
    EXPECT_EQ(heap.mallocHeld(32), nullptr);
    heap.free(one);
    heap.free(two);
}

TEST(AdaptHeap, FreesWaitingObjectsWhenThereIsNoMemory) {
    Ledger::begin(3);
    AdaptHeap<LifoList, CountingHeap> heap;
    heap.free(heap.malloc(32));
    void* const object = heap.malloc(64);
    heap.free(object);
    void* const large = heap.malloc(128); // refused, then granted
    EXPECT_NE(large, nullptr);
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    EXPECT_EQ(Ledger::the().requests, 4U);
    Ledger::the().refuse = Ledger::all;
    EXPECT_EQ(heap.malloc(256), nullptr);
    heap.free(large);
}

TEST(AdaptHeap, KeepsEveryObjectAsAlignedAsItPromises) {
    AdaptHeap<FifoList, MallocHeap> heap;
    void* const object = heap.memalign(256, 100);
    EXPECT_EQ(addressOf(object) % 256, 0U);
    heap.free(object);
    EXPECT_EQ(heap.memalign(8, 100), object) << "good enough for that";
    void* const other = heap.memalign(4096, 100);
    EXPECT_EQ(addressOf(other) % 4096, 0U);
    heap.free(object);
    heap.free(other);
    EXPECT_FALSE((AlignedHeap<AdaptHeap<FifoList, CountingHeap>>));
}

TEST(AdaptHeap, MeasuresWaitingObjects) {
    Ledger::begin();
    AdaptHeap<BestFitTree, CountingHeap> tree;
    AdaptHeap<LifoList, CountingHeap> list;
    tree.free(tree.malloc(100));
    MemoryUsage usage;
    tree.measure(usage);
    EXPECT_EQ(usage.heldCount, 1U);
    EXPECT_EQ(usage.held, 100U);
    EXPECT_EQ(usage.mapped, 100U);
    EXPECT_TRUE(tree.flush());
    EXPECT_FALSE(tree.flush());
    EXPECT_TRUE(Ledger::the().live.empty());
    list.free(list.malloc(48));
    usage = {};
    list.measure(usage);
    EXPECT_EQ(usage.heldCount, 1U);
    EXPECT_EQ(usage.held, 48U);
}

} // namespace
} // namespace heapwright::testing

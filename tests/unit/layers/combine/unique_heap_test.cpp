// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/combine/hybrid_heap.hpp>
#include <heapwright/layers/combine/unique_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

struct First {};
struct Second {};

TEST(UniqueHeap, IsTheSameHeapThroughEachFace) {
    Ledger::begin();
    using Shared = UniqueHeap<First, FreelistHeap<CountingHeap>>;
    Shared one;
    Shared other;
    void* const object = one.malloc(32);
    other.free(object);
    EXPECT_EQ(one.malloc(32), object);
    other.free(object);
    EXPECT_TRUE(Shared::theHeap().flush());
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(UniqueHeap, IsAnotherUnderAnotherName) {
    using A = UniqueHeap<First, MmapHeap>;
    using B = UniqueHeap<Second, MmapHeap>;
    EXPECT_NE(&A::theHeap(), &B::theHeap());
}

TEST(UniqueHeap, StaysWhenItsFacesAreGone) {
    Ledger::begin();
    using Shared = UniqueHeap<Second, FreelistHeap<CountingHeap>>;
    {
        FreelistHeap<Shared> face;
        face.free(face.malloc(32));
    }
    EXPECT_EQ(Ledger::the().live.size(), 1U) << "it waits on the shared list";
    Shared::theHeap().flush();
    EXPECT_TRUE(Ledger::the().live.empty());
}

/// Two heaps of one program that draw on one source, so that neither keeps a chunk to itself.
TEST(UniqueHeap, LetsTwoLayersDrawOnOneSource) {
    using Source = UniqueHeap<struct Chunked, SizeHeap<ChunkHeap<64 * KiB, 8, MmapHeap>>>;
    HybridHeap<100, Source, Source> heap;
    void* const small = heap.malloc(50);
    void* const large = heap.malloc(200);
    EXPECT_LT(addressOf(large) - addressOf(small), 200U) << "out of one chunk";
    heap.free(small);
    heap.free(large);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_GT(usage.mapped, 60 * KiB);
    EXPECT_LT(usage.mapped, 100 * KiB) << "counted once";
    Source::theHeap().clear();
}

TEST(UniqueHeap, OffersNoVerbThatAffectsOtherFaces) {
    using Shared = UniqueHeap<First, ChunkHeap<4 * KiB, 0, MmapHeap>>;
    EXPECT_FALSE(ClearableHeap<Shared>);
    EXPECT_TRUE(ForeignFreeHeap<Shared> && UniquelyNamedHeap<Shared>);
    EXPECT_FALSE(ConcurrentHeap<Shared>);
    using Locked = UniqueHeap<First, LockedHeap<FutexLock, MmapHeap>>;
    EXPECT_TRUE(ConcurrentHeap<Locked>);
    EXPECT_FALSE(ForkableHeap<Locked>);
    EXPECT_TRUE((SizedHeap<Locked> && AlignedHeap<Locked> && RelocatingHeap<Locked>));
    EXPECT_TRUE(SizedFreeHeap<Shared>);
}

} // namespace
} // namespace heapwright::testing

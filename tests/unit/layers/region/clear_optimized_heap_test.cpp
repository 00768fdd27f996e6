// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/region/clear_optimized_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>

#include <heapwright/heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace heapwright::testing {
namespace {

using Region = RegionHeap<1 * KiB, 8 * KiB, CountingHeap>;
using NoBlocks = CoalesceableHeap<SizeHeap<NullHeap>>;
using Merging = CoalesceHeap<4 * KiB, NoBlocks>;
using Heap = ClearOptimizedHeap<Merging, Region>;

static_assert(TaggedHeap<Heap> && ClearableHeap<Heap> && HoldingHeap<Heap> && OwningHeap<Heap>);
static_assert(ResizableHeap<Heap> && MeasurableHeap<Heap> && AnyOrderHeap<Heap>);
static_assert(AlignedHeap<Heap> && !ZeroingHeap<Heap>);

/// The second heaps that the library offers: only those that report what they hold.
template <class Second, class Super>
constexpr bool composes = requires { typename ClearOptimizedHeap<Second, Super>; };
static_assert(!composes<FreelistHeap<NullHeap>, Region>); // takes one size only
static_assert(!composes<SizeHeap<Region>, Region>);       // holds nothing
static_assert(!composes<Merging, MmapHeap>);              // cannot be cleared
static_assert(!composes<CheckedHeap<Merging>, Region>);   // would refuse what it has not given out

TEST(ClearOptimizedHeap, MovesAPointerUntilSomethingIsFreed) {
    Ledger::begin();
    Heap heap;
    void* const first = heap.malloc(24);
    void* const second = heap.malloc(100);
    EXPECT_EQ(addressOf(first) % minAlignment, 0U);
    EXPECT_EQ(addressOf(second), addressOf(first) + 32);
    EXPECT_EQ(heap.getSize(first), 24U);
    EXPECT_EQ(heap.getSize(second), 104U);
}

TEST(ClearOptimizedHeap, BeginsInMemoryThatItsOwnerHas) {
    Ledger::begin();
    alignas(minAlignment) unsigned char memory[256];
    Heap heap;
    for (int round = 0; round < 2; ++round) {
        heap.beginIn(memory, sizeof memory);
        void* const first = heap.malloc(100);
        EXPECT_EQ(first, memory + 16);
        heap.free(heap.malloc(50));
        heap.free(first);
        EXPECT_TRUE(Ledger::the().live.empty());
        void* const second = heap.malloc(1000);
        std::memset(second, 1, 1000);
        EXPECT_FALSE(Ledger::the().live.empty());
        heap.clear();
        EXPECT_TRUE(Ledger::the().live.empty());
    }
}

/// A source that needs the maximum size of its objects.
class Told : public Region {
public:
    explicit Told(std::size_t most) noexcept : most_(most) {}
    void* malloc(std::size_t size) noexcept {
        return size > most_ ? nullptr : Region::malloc(size);
    }
    void* mallocArea(std::size_t least, std::size_t& granted) noexcept {
        return least > most_ ? nullptr : Region::mallocArea(least, granted);
    }

private:
    std::size_t most_;
};

TEST(ClearOptimizedHeap, DescribesItsSuperheap) {
    Ledger::begin();
    ClearOptimizedHeap<Merging, Told> heap(std::size_t{500});
    EXPECT_NE(heap.malloc(400), nullptr);
    EXPECT_EQ(heap.malloc(10000), nullptr);
}

TEST(ClearOptimizedHeap, ServesFreedObjectsAndThenMovesThePointer) {
    Ledger::begin();
    Heap heap;
    void* const first = heap.malloc(100);
    void* const second = heap.malloc(100);
    void* const third = heap.malloc(100);
    heap.free(second);
    EXPECT_EQ(heap.malloc(100), second);
    EXPECT_EQ(addressOf(heap.malloc(100)), addressOf(third) + 112); // there was no other
    heap.free(first);
    EXPECT_EQ(addressOf(heap.malloc(200)), addressOf(third) + 224);       // none that fits
    EXPECT_EQ(addressOf(heap.malloc(100)), addressOf(third) + 224 + 208); // the pointer moves
    heap.free(third);
    EXPECT_EQ(heap.malloc(100), first); // it has waited longer
}

TEST(ClearOptimizedHeap, TheLastObjectReturnsToTheArea) {
    Ledger::begin();
    Heap heap;
    std::vector<void*> objects;
    for (int i = 0; i < 5; ++i) {
        objects.push_back(heap.malloc(50));
    }
    for (int i = 4; i > 0; --i) {
        heap.free(objects[static_cast<std::size_t>(i)]);
    }
    EXPECT_EQ(heap.malloc(90), objects[1]);
    EXPECT_EQ(Ledger::the().requests, 1U); // and there was no need of a second heap
}

TEST(ClearOptimizedHeap, MakesTheSecondHeapWithTheFirstFreeThatNeedsIt) {
    Ledger::begin();
    Heap heap;
    void* const first = heap.malloc(100);
    ASSERT_NE(heap.malloc(100), nullptr);
    EXPECT_LT(sizeof(Heap), 128U);
    EXPECT_EQ(Ledger::the().requests, 1U);
    heap.free(first);
    EXPECT_EQ(Ledger::the().requests, 2U); // larger than what is left of the area
    EXPECT_EQ(heap.malloc(100), first);
}

TEST(ClearOptimizedHeap, WithoutASecondHeapFreedObjectsWaitForClear) {
    Ledger::begin();
    {
        Heap heap;
        void* const first = heap.malloc(100);
        void* const second = heap.malloc(100);
        Ledger::the().refuse = Ledger::all;
        heap.free(first);
        EXPECT_EQ(addressOf(heap.malloc(100)), addressOf(second) + 112);
        EXPECT_TRUE(heap.resize(second, 50)); // it has that much
        EXPECT_FALSE(heap.resize(second, 500));
    }
}

TEST(ClearOptimizedHeap, TheRestOfAnAreaServesWithASecondHeap) {
    Ledger::begin();
    Heap heap;
    void* const first = heap.malloc(100);
    void* const last = heap.malloc(100);
    heap.free(first);
    ASSERT_NE(heap.malloc(1500), nullptr); // in another area, with more left than here
    void* const other = heap.malloc(40);
    ASSERT_NE(heap.malloc(40), nullptr);
    heap.free(other);
    EXPECT_EQ(addressOf(heap.malloc(300)), addressOf(last) + 112);
}

TEST(ClearOptimizedHeap, GoesOnWhereThereIsMoreRoom) {
    Ledger::begin();
    Heap heap;
    void* const first = heap.malloc(100);
    void* const large = heap.malloc(20'000);
    ASSERT_NE(large, nullptr);
    EXPECT_GE(heap.getSize(large), 20'000U);
    EXPECT_EQ(addressOf(heap.malloc(100)), addressOf(first) + 112);
    heap.free(large);
    EXPECT_EQ(heap.malloc(20'000), large);
}

TEST(ClearOptimizedHeap, FreedNeighboursMergeInTheSecondHeap) {
    Ledger::begin();
    Heap heap;
    void* const first = heap.malloc(104);
    void* const second = heap.malloc(104);
    void* const third = heap.malloc(104);
    ASSERT_NE(heap.malloc(104), nullptr);
    heap.free(first);
    heap.free(third);
    heap.free(second);
    EXPECT_EQ(heap.malloc(3 * 112 - 8), first);
}

TEST(ClearOptimizedHeap, TheLastFreedObjectMergesWithItsSuccessor) {
    Ledger::begin();
    Heap heap;
    void* const first = heap.malloc(104);
    void* const last = heap.malloc(104);
    heap.free(first);
    heap.free(last);
    void* const next = heap.malloc(300); // moves on, and knows that what is before is free
    EXPECT_EQ(addressOf(next), addressOf(last) + 112);
    heap.free(next);
    EXPECT_EQ(heap.malloc(400), first);
}

TEST(ClearOptimizedHeap, ClearReturnsAllAndThePointerMovesAgain) {
    Ledger::begin();
    {
        Heap heap;
        for (int round = 0; round < 3; ++round) {
            std::vector<void*> objects;
            for (int i = 0; i < 100; ++i) {
                objects.push_back(heap.malloc(100));
            }
            heap.free(objects[10]);
            heap.free(objects[20]);
            heap.clear();
            EXPECT_TRUE(Ledger::the().live.empty());
            EXPECT_EQ(heap.mallocHeld(100), nullptr); // nothing is left in the second heap
            void* const first = heap.malloc(100);
            EXPECT_EQ(addressOf(heap.malloc(100)), addressOf(first) + 112);
        }
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(ClearOptimizedHeap, ServesFromHeldMemoryWithoutTheHeapBelow) {
    Ledger::begin();
    Heap heap;
    EXPECT_EQ(heap.mallocHeld(100), nullptr);
    EXPECT_EQ(Ledger::the().requests, 0U);
    void* const first = heap.malloc(100);
    EXPECT_EQ(addressOf(heap.mallocHeld(100)), addressOf(first) + 112);
    EXPECT_EQ(Ledger::the().requests, 1U);
    heap.free(first);
    const std::size_t before = Ledger::the().requests;
    EXPECT_EQ(heap.mallocHeld(100), first);
    EXPECT_EQ(heap.mallocHeld(50'000), nullptr);
    EXPECT_EQ(Ledger::the().requests, before);
}

TEST(ClearOptimizedHeap, ReturnsNullIfTheHeapBelowDoesOrTheSizeOverflows) {
    Ledger::begin(Ledger::all);
    Heap heap;
    EXPECT_EQ(heap.malloc(100), nullptr);
    Ledger::begin();
    void* const object = heap.malloc(100);
    ASSERT_NE(object, nullptr);
    for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 8, SIZE_MAX - 32, SIZE_MAX / 2 + 1}) {
        EXPECT_EQ(heap.malloc(size), nullptr);
        EXPECT_EQ(heap.mallocHeld(size), nullptr);
    }
    heap.free(object);
    EXPECT_EQ(heap.malloc(SIZE_MAX), nullptr);
    EXPECT_NE(heap.malloc(100), nullptr);
}

TEST(ClearOptimizedHeap, ResizesAsTheSecondHeapDoes) {
    Ledger::begin();
    Heap heap;
    void* const first = heap.malloc(200);
    void* const second = heap.malloc(200);
    ASSERT_NE(heap.malloc(200), nullptr);
    EXPECT_FALSE(heap.resize(first, 300));
    EXPECT_TRUE(heap.resize(first, 24)); // the rest is free
    EXPECT_EQ(addressOf(heap.malloc(24)), addressOf(first) + 32);
    heap.free(second);
    EXPECT_FALSE(heap.resize(first, 100));
}

TEST(ClearOptimizedHeap, ResizesTheObjectMadeLastWhereItStands) {
    Ledger::begin();
    Heap heap;
    void* const first = heap.malloc(100);
    void* const last = heap.malloc(100);
    EXPECT_TRUE(heap.resize(last, 500));
    EXPECT_EQ(addressOf(heap.malloc(24)), addressOf(last) + 512);
    EXPECT_FALSE(heap.resize(last, 600)); // it is the last no more
    heap.free(first);
    void* const newest = heap.malloc(200);
    EXPECT_TRUE(heap.resize(newest, 100));
    EXPECT_FALSE(heap.resize(newest, 5000));
    EXPECT_FALSE(heap.resize(newest, SIZE_MAX));
    EXPECT_EQ(addressOf(heap.malloc(150)), addressOf(newest) + 112);
}

TEST(ClearOptimizedHeap, HonoursAlignmentsInEitherMode) {
    Ledger::begin();
    Heap heap;
    std::vector<void*> objects;
    for (const bool freed : {false, true}) {
        for (const std::size_t align : {32U, 64U, 256U, 4096U}) {
            for (const std::size_t size : {1U, 100U, 5000U}) {
                void* const object = heap.memalign(align, size);
                ASSERT_NE(object, nullptr);
                EXPECT_EQ(addressOf(object) % align, 0U);
                EXPECT_GE(heap.getSize(object), size);
                std::memset(object, 0x5A, heap.getSize(object));
                objects.push_back(object);
            }
        }
        if (!freed) {
            heap.free(objects.front());
        }
    }
    EXPECT_EQ(heap.memalign(std::size_t{1} << 60U, 1), nullptr);
    EXPECT_EQ(heap.memalign(64, SIZE_MAX), nullptr);
}

TEST(ClearOptimizedHeap, ItsCursorMakesObjectsAsItDoes) {
    Ledger::begin();
    Heap heap;
    EXPECT_FALSE(heap.cursor().hasRoom(32));
    void* const first = heap.malloc(100);
    ASSERT_TRUE(heap.cursor().hasRoom(112));
    void* const second = heap.cursor().make(112)->object();
    EXPECT_EQ(addressOf(second), addressOf(first) + 112);
    EXPECT_EQ(heap.getSize(second), 104U);
    heap.free(first);
    EXPECT_FALSE(heap.cursor().hasRoom(32)); // what was freed comes first
    heap.free(second);
    EXPECT_EQ(heap.malloc(216), first);
}

TEST(ClearOptimizedHeap, WorksOverAHeapWithoutAreas) {
    Ledger::begin();
    {
        ClearOptimizedHeap<Merging, ChunkHeap<64 * KiB, 0, CountingHeap>> heap;
        void* const first = heap.malloc(100);
        ASSERT_NE(heap.malloc(20'000), nullptr);
        heap.free(first);
        EXPECT_EQ(heap.malloc(100), first);
        for (int i = 0; i < 1000; ++i) {
            void* const object = heap.malloc(500);
            ASSERT_NE(object, nullptr);
            std::memset(object, i, 500);
        }
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(ClearOptimizedHeap, MeasuresTheMemoryOfBothHeaps) {
    Ledger::begin();
    Heap heap;
    void* const object = heap.malloc(104);
    MemoryUsage before;
    heap.measure(before);
    EXPECT_EQ(before.mapped, 1 * KiB - 32);
    EXPECT_EQ(before.heldCount, 1U);
    heap.free(object);
    EXPECT_TRUE(heap.owns(object));
}

TEST(ClearOptimizedHeap, IsACursorHeap) {
    EXPECT_TRUE(CursorHeap<Heap>);
    EXPECT_FALSE(CursorHeap<MmapHeap>);
}

} // namespace
} // namespace heapwright::testing

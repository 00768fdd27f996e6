// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/bitmap_slab_heap.hpp>
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace heapwright::testing {
namespace {

using Slabs = BitmapSlabHeap<64, 4 * KiB, CountingHeap>;

/// How many objects the first slab has.
template <class Heap>
std::vector<void*> fillOneSlab(Heap& heap) {
    std::vector<void*> objects;
    const std::size_t before = Ledger::the().live.size();
    for (;;) {
        void* const object = heap.malloc(1);
        if (Ledger::the().live.size() > before + 1) {
            heap.free(object);
            return objects;
        }
        objects.push_back(object);
    }
}

TEST(BitmapSlabHeap, FillsASlabBeforeItTakesAnother) {
    Ledger::begin();
    {
        Slabs heap;
        const std::vector<void*> objects = fillOneSlab(heap);
        EXPECT_GE(objects.size(), 60U) << "of 64, were there no bitmap";
        EXPECT_EQ(std::set<void*>(objects.begin(), objects.end()).size(), objects.size());
        for (void* const object : objects) {
            EXPECT_EQ(roundDown(addressOf(object), 4 * KiB),
                      roundDown(addressOf(objects[0]), 4 * KiB));
            EXPECT_EQ(addressOf(object) % 16, 0U);
            std::memset(object, 1, 64);
        }
    }
    EXPECT_TRUE(Ledger::the().live.empty()) << "with all objects out";
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(BitmapSlabHeap, HasNothingForALargerRequest) {
    Ledger::begin();
    Slabs heap;
    EXPECT_EQ(heap.malloc(65), nullptr);
    EXPECT_EQ(heap.malloc(SIZE_MAX), nullptr);
    EXPECT_EQ(heap.mallocHeld(65), nullptr);
    EXPECT_EQ(Ledger::the().requests, 0U);
    void* const object = heap.malloc(64);
    EXPECT_EQ(heap.getSize(object), 64U);
    EXPECT_TRUE(heap.resize(object, 1));
    EXPECT_FALSE(heap.resize(object, 65));
    EXPECT_NE(heap.malloc(0), nullptr);
}

TEST(BitmapSlabHeap, GivesTheLowestFreeObjectOfItsSlab) {
    Ledger::begin();
    Slabs heap;
    const std::vector<void*> objects = fillOneSlab(heap);
    heap.flush();
    heap.free(objects[5]);
    heap.free(objects[2]);
    heap.free(objects[9]);
    EXPECT_EQ(heap.malloc(64), objects[2]);
    EXPECT_EQ(heap.malloc(64), objects[5]);
    EXPECT_EQ(heap.malloc(64), objects[9]);
    EXPECT_EQ(heap.mallocHeld(64), nullptr) << "full again";
}

TEST(BitmapSlabHeap, KeepsOneEmptySlabAndReturnsOthers) {
    Ledger::begin();
    Slabs heap;
    std::vector<void*> objects = fillOneSlab(heap);
    for (const std::size_t perSlab = objects.size(); objects.size() < 3 * perSlab;) {
        objects.push_back(heap.malloc(64));
    }
    EXPECT_EQ(Ledger::the().live.size(), 3U);
    for (void* const object : objects) {
        heap.free(object);
    }
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    const std::size_t before = Ledger::the().requests;
    heap.free(heap.mallocHeld(64));
    EXPECT_EQ(Ledger::the().requests, before);
    EXPECT_TRUE(heap.flush());
    EXPECT_FALSE(heap.flush());
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(BitmapSlabHeap, MeasuresFreeMemory) {
    Ledger::begin();
    Slabs heap;
    const std::vector<void*> objects = fillOneSlab(heap);
    heap.flush();
    heap.free(objects[1]);
    heap.free(objects[3]);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.heldCount, 2U);
    EXPECT_EQ(usage.held, 128U);
    EXPECT_EQ(usage.mapped, 8 * KiB - 16) << "twice the slab, for this source aligns nothing";
}

TEST(BitmapSlabHeap, TakesOnlyTheSlabFromAnAlignedHeap) {
    BitmapSlabHeap<100, 64 * KiB, MmapHeap> heap;
    void* const object = heap.malloc(100);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_LE(usage.mapped, 64 * KiB + 4 * KiB) << "and the page with its tag";
    heap.free(object);
    BitmapSlabHeap<100, 64 * KiB, MallocHeap> other;
    EXPECT_NE(other.malloc(100), nullptr);
}

TEST(BitmapSlabHeap, KnowsItsOwnObjects) {
    Ledger::begin();
    Slabs heap;
    Slabs other;
    std::vector<void*> objects = fillOneSlab(heap);
    objects.push_back(heap.malloc(64)); // of a slab that is not full
    void* const foreign = other.malloc(64);
    for (void* const object : objects) {
        EXPECT_TRUE(heap.owns(object));
        EXPECT_FALSE(other.owns(object));
    }
    EXPECT_TRUE(heap.owns(forward(objects[0], 63)));
    EXPECT_FALSE(heap.owns(foreign));
    EXPECT_FALSE(heap.owns(nullptr));
    EXPECT_FALSE(heap.owns(pointerTo(~Address{0} - 7))) << "not even mapped";
}

TEST(BitmapSlabHeap, ServesAgainAfterTheHeapBelowReturnedNull) {
    Ledger::begin(2);
    Slabs heap;
    const std::vector<void*> objects = [&] {
        std::vector<void*> all;
        while (void* const object = heap.malloc(64)) {
            all.push_back(object);
        }
        return all;
    }();
    EXPECT_GE(objects.size(), 60U);
    EXPECT_NE(heap.malloc(64), nullptr) << "asked again";
    for (void* const object : objects) {
        heap.free(object);
    }
}

TEST(BitmapSlabHeap, ReturnsEverythingOnClear) {
    Ledger::begin();
    Slabs heap;
    BitmapSlabHeap<64, 1 * KiB, ChunkHeap<16 * KiB, 0, CountingHeap>> chunked;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 200; ++i) {
            ASSERT_NE(heap.malloc(64), nullptr);
            ASSERT_NE(chunked.malloc(64), nullptr);
        }
        heap.clear();
        chunked.clear();
        EXPECT_TRUE(Ledger::the().live.empty());
    }
}

TEST(BitmapSlabHeap, HasSlabsOfOneObject) {
    Ledger::begin();
    BitmapSlabHeap<3000, 4 * KiB, CountingHeap> heap;
    void* const one = heap.malloc(3000);
    void* const two = heap.malloc(3000);
    EXPECT_EQ(Ledger::the().live.size(), 2U);
    heap.free(one);
    heap.free(two);
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    EXPECT_NE(heap.malloc(3000), nullptr);
    EXPECT_EQ(Ledger::the().live.size(), 1U);
}

class BitmapSlabHeapDeathTest : public ::testing::Test {
protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        Ledger::begin();
    }
    Slabs heap_;
};

TEST_F(BitmapSlabHeapDeathTest, DiesOfADoubleFree) {
    void* const object = heap_.malloc(64);
    void* const other = heap_.malloc(64);
    heap_.free(object);
    EXPECT_EXIT(heap_.free(object), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: free\\(\\): double free\n");
    heap_.free(other);
    EXPECT_EXIT(heap_.free(object), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: free\\(\\): double free\n")
        << "the empty slab is still there";
}

TEST_F(BitmapSlabHeapDeathTest, DiesOfAPointerThatIsNoObject) {
    void* const object = heap_.malloc(64);
    for (void* const wrong : {forward(object, 1), forward(object, 16), backward(object, 16),
                              pointerTo(roundDown(addressOf(object), 4 * KiB)),
                              pointerTo(roundDown(addressOf(object), 4 * KiB) + 4 * KiB - 1)}) {
        EXPECT_EXIT(heap_.free(wrong), ::testing::KilledBySignal(SIGABRT),
                    "^heapwright: free\\(\\): invalid pointer\n");
    }
}

} // namespace
} // namespace heapwright::testing

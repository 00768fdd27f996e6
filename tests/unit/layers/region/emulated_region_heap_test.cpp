// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/region/emulated_region_heap.hpp>

#include <heapwright/layers/region/nested_heap.hpp>
#include <heapwright/layers/region/obstack_heap.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace heapwright::testing {
namespace {

using Emulated = EmulatedRegionHeap<MmapHeap, CountingHeap>;
using OnMalloc = EmulatedRegionHeap<MmapHeap, MallocHeap>;

static_assert(ClearableHeap<Emulated> && SizedHeap<Emulated> && OwningHeap<Emulated>);
static_assert(!AlignedHeap<Emulated> && AlignedHeap<OnMalloc> && ZeroingHeap<OnMalloc>);
static_assert(!ConcurrentHeap<OnMalloc> && !ForeignFreeHeap<OnMalloc> && AnyOrderHeap<Emulated>);

template <class Records, class Super>
constexpr bool stacks = requires { typename EmulatedRegionHeap<Records, Super>; };
static_assert(!stacks<MmapHeap, ObstackHeap<4 * KiB, MallocHeap>>);
static_assert(!stacks<ObstackHeap<4 * KiB, MallocHeap>, MallocHeap>);

std::size_t live() {
    return Ledger::the().live.size();
}

TEST(EmulatedRegionHeap, EveryObjectIsOneOfTheSuperheaps) {
    Ledger::begin();
    Emulated heap;
    for (std::size_t size = 1; size <= 100; ++size) {
        void* const object = heap.malloc(size);
        EXPECT_EQ(Ledger::the().live.at(object), size);
    }
    EXPECT_EQ(Ledger::the().requests, 100U); // and nothing else is
}

TEST(EmulatedRegionHeap, ClearFreesEachObject) {
    Ledger::begin();
    {
        Emulated heap;
        for (int round = 0; round < 3; ++round) {
            for (std::size_t size = 1; size <= 1000; ++size) {
                ASSERT_NE(heap.malloc(size), nullptr);
            }
            EXPECT_EQ(live(), 1000U);
            heap.clear();
            EXPECT_EQ(live(), 0U);
        }
        ASSERT_NE(heap.malloc(1), nullptr);
    }
    EXPECT_EQ(live(), 0U);
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(EmulatedRegionHeap, ASingleFreeIsAtOnceAndOnce) {
    Ledger::begin();
    Emulated heap;
    std::vector<void*> objects;
    for (std::size_t i = 0; i < 500; ++i) {
        objects.push_back(heap.malloc(1 + i % 50));
    }
    for (std::size_t i = 0; i < objects.size(); i += 2) {
        heap.free(objects[i]);
        EXPECT_EQ(live(), 499 - i / 2);
    }
    heap.free(objects[2]); // no longer the heap's
    EXPECT_EQ(live(), 250U);
    heap.clear();
    EXPECT_EQ(live(), 0U);
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

/// Gives memory that must never be touched, and says when it is freed.
class UntouchableHeap {
public:
    static constexpr std::size_t alignment = minAlignment;
    [[maybe_unused]] static constexpr std::string_view caption = "gives addresses where nothing is";
    using Below = Heaps<>;

    void* malloc(std::size_t) noexcept { return pointerTo(given += 16); }
    void free(void* object) noexcept { freed.push_back(object); }
    std::size_t getSize(void*) noexcept { return 16; }

    static inline Address given = 0;
    static inline std::vector<void*> freed;
};

TEST(EmulatedRegionHeap, NeverTouchesAnObjectAndFreesTheNewestFirst) {
    UntouchableHeap::given = 0x1000;
    UntouchableHeap::freed.clear();
    EmulatedRegionHeap<MmapHeap, UntouchableHeap> heap;
    std::vector<void*> backwards;
    for (int i = 0; i < 1000; ++i) {
        backwards.insert(backwards.begin(), heap.malloc(16));
    }
    EXPECT_TRUE(heap.owns(pointerTo(0x1013)));
    EXPECT_FALSE(heap.owns(pointerTo(0x1000)));
    heap.clear();
    EXPECT_EQ(UntouchableHeap::freed, backwards);
}

TEST(EmulatedRegionHeap, OnlyItsRecordsAreTakenFromRecords) {
    Ledger::begin();
    NestedHeap<EmulatedRegionHeap<CountingHeap, UntouchableHeap>> heap;
    ASSERT_NE(heap.malloc(1), nullptr);
    EXPECT_EQ(live(), 1U); // only the record is there
    heap.clear();
    EXPECT_EQ(live(), 0U);
}

TEST(EmulatedRegionHeap, ReturnsNullIfTheObjectCannotBeRecorded) {
    Ledger::begin();
    EmulatedRegionHeap<CountingHeap, CountingHeap> heap;
    Ledger::the().refuse = 1; // the object
    EXPECT_EQ(heap.malloc(10), nullptr);
    Ledger::the().refuse = Ledger::the().requests + 2; // its record
    EXPECT_EQ(heap.malloc(10), nullptr);
    EXPECT_EQ(live(), 0U);
    EXPECT_NE(heap.malloc(10), nullptr);
    EXPECT_EQ(live(), 2U);
    heap.clear();
    EXPECT_EQ(live(), 0U);
}

TEST(EmulatedRegionHeap, HasTheVerbsOfTheSuperheap) {
    OnMalloc heap;
    void* const aligned = heap.memalign(512, 10);
    EXPECT_EQ(addressOf(aligned) % 512, 0U);
    auto* const zeroed = static_cast<unsigned char*>(heap.zalloc(100));
    for (int at = 0; at < 100; ++at) {
        ASSERT_EQ(zeroed[at], 0);
    }
    EXPECT_GE(heap.getSize(zeroed), 100U);
    EXPECT_TRUE(heap.owns(zeroed + 99));
    EXPECT_FALSE(heap.owns(&heap));
    heap.free(zeroed);
    EXPECT_FALSE(heap.owns(zeroed));
    const volatile std::size_t much = SIZE_MAX - 64;
    EXPECT_EQ(heap.malloc(much), nullptr);
    EXPECT_EQ(heap.memalign(64, much), nullptr);
}

/// Moves an object at each request.
class MovingHeap : public CountingHeap {
public:
    void* relocate(void* object, std::size_t size) noexcept {
        void* const other = malloc(size);
        if (other != nullptr) {
            free(object);
        }
        return other;
    }
};

TEST(EmulatedRegionHeap, AnObjectThatMovesIsRecordedWhereItIs) {
    Ledger::begin();
    EmulatedRegionHeap<MmapHeap, MovingHeap> heap;
    std::vector<void*> objects;
    for (std::size_t i = 0; i < 100; ++i) {
        objects.push_back(heap.malloc(20));
    }
    void* const moved = heap.relocate(objects[7], 200);
    ASSERT_NE(moved, nullptr);
    EXPECT_EQ(heap.relocate(objects[7], 300), nullptr); // no longer the heap's
    Ledger::the().refuse = Ledger::all;
    EXPECT_EQ(heap.relocate(moved, 300), nullptr);
    Ledger::the().refuse = 0;
    EXPECT_EQ(live(), 100U);
    heap.free(moved);
    EXPECT_EQ(live(), 99U);
    heap.clear();
    EXPECT_EQ(live(), 0U);
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(EmulatedRegionHeap, ChildrenDieWithTheirParent) {
    using Nested = NestedHeap<Emulated>;
    Ledger::begin();
    {
        Nested parent;
        Nested child(parent);
        Nested* const inside = child.makeChild();
        for (Nested* const heap : {&parent, &child, inside}) {
            for (int i = 0; i < 10; ++i) {
                ASSERT_NE(heap->malloc(24), nullptr);
            }
        }
        EXPECT_EQ(live(), 31U);
        child.clear();
        EXPECT_EQ(live(), 10U);
        ASSERT_NE(child.malloc(24), nullptr);
        parent.clear();
        EXPECT_EQ(live(), 0U);
    }
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(EmulatedRegionHeap, MeasuresItsRecordsToo) {
    Ledger::begin();
    EmulatedRegionHeap<MmapHeap, CountingHeap> heap;
    ASSERT_NE(heap.malloc(1000), nullptr);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_GT(usage.mapped, 1000U);
}

TEST(EmulatedRegionHeap, CountsLiveObjectsOfAHeapThatDoesNotMeasure) {
    OnMalloc heap;
    void* const object = heap.malloc(1000);
    void* const other = heap.malloc(10);
    const std::size_t sizes = heap.getSize(object) + heap.getSize(other);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.mapped, sizes);
}

} // namespace
} // namespace heapwright::testing

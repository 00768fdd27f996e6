// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/combine/unique_heap.hpp>
#include <heapwright/layers/object/unit_object_heap.hpp>
#include <heapwright/layers/source/extent_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>

#include <support/child.hpp>
#include <support/extent_ledger.hpp>
#include <support/history.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

namespace heapwright::testing {
namespace {

constexpr std::size_t unit = 32 * KiB;

using Extents = ExtentHeap<unit, FutexLock, SetDelay, LedgerExtents>;
using Large = UnitObjectHeap<unit, Extents>;
struct SharedExtents {};
using Shared = UnitObjectHeap<unit, UniqueHeap<SharedExtents, Extents>>;

static_assert(ZeroingHeap<Large> && AlignedHeap<Large> && ResizableHeap<Large>);
static_assert(RelocatingHeap<Large> && CheckingHeap<Large> && ConcurrentHeap<Large>);
static_assert(ForkableHeap<Large> && ForkableHeap<Shared> && ClearableHeap<Large>);
static_assert(!ClearableHeap<Shared> && LockFreeOwningHeap<Large>);

template <class H, std::size_t Unit = unit>
concept StandsOn = requires { typename UnitObjectHeap<Unit, H>; };
static_assert(StandsOn<Extents> && !StandsOn<Extents, 2 * unit> && !StandsOn<MmapHeap>);

class UnitObjectHeapTest : public ::testing::Test {
protected:
    void SetUp() override { ExtentLedger::begin(); }
};

TEST_F(UnitObjectHeapTest, AgreesWithTheModelOverRandomHistories) {
    for (const std::uint32_t seed : {1U, 2U, 3U}) {
        {
            Large heap;
            runHistory(heap, seed, {1500, 100, 1, 300000, false});
        }
        EXPECT_EQ(ExtentLedger::the().mapped(), 0U);
    }
}

TEST_F(UnitObjectHeapTest, ReturnsNullWhenTheSystemRefuses) {
    for (std::size_t refuse = 1; refuse <= 20; ++refuse) {
        ExtentLedger::begin(refuse);
        {
            Large heap;
            runHistory(heap, 7, {300, 100, 1, 600000, true});
        }
        EXPECT_EQ(ExtentLedger::the().lost(), 0U);
    }
}

TEST_F(UnitObjectHeapTest, UnitBeforeAnObjectHasTheUncachedOwnerTag) {
    Large heap;
    for (std::size_t align = 16; align <= 16 * MiB; align *= 2) {
        for (const std::size_t size : {std::size_t{1}, 20 * KiB, 3 * unit, 5 * MiB}) {
            auto* const object = static_cast<unsigned char*>(heap.memalign(align, size));
            ASSERT_NE(object, nullptr);
            ASSERT_EQ(addressOf(object) % align, 0U);
            ASSERT_GE(heap.getSize(object), size);
            std::memset(object, 0xFF, heap.getSize(object));
            ASSERT_EQ(ownerTagOf<unit>(object), noOwnerTag) << align << ' ' << size;
            ASSERT_TRUE(Large::isHere(object));
            heap.check(object, "free");
            heap.free(object);
        }
    }
}

TEST_F(UnitObjectHeapTest, ZeroesWhatIsAskedFor) {
    Large heap;
    for (const std::size_t size : {30 * KiB, 100 * KiB, 6 * MiB}) {
        for (int round = 0; round < 3; ++round) {
            auto* const object = static_cast<unsigned char*>(heap.zalloc(size));
            for (std::size_t at = 0; at < size; ++at) {
                ASSERT_EQ(object[at], 0);
            }
            std::memset(object, 0xFF, heap.getSize(object));
            heap.free(object);
        }
    }
}

TEST_F(UnitObjectHeapTest, GrowsShrinksAndMoves) {
    Large heap;
    auto* object = static_cast<unsigned char*>(heap.malloc(200 * KiB));
    void* const neighbour = heap.malloc(100 * KiB);
    std::memset(object, 5, 200 * KiB);
    EXPECT_FALSE(heap.resize(object, 1 * MiB));
    object = static_cast<unsigned char*>(heap.relocate(object, 1 * MiB));
    ASSERT_NE(object, nullptr);
    EXPECT_GE(heap.getSize(object), 1 * MiB);
    EXPECT_EQ(object[200 * KiB - 1], 5);
    EXPECT_TRUE(heap.resize(object, 64 * KiB));
    EXPECT_LT(heap.getSize(object), 64 * KiB + unit);
    EXPECT_EQ(object[64 * KiB - 1], 5);
    void* const aligned = heap.memalign(unit, 300 * KiB);
    EXPECT_EQ(heap.relocate(aligned, 9 * MiB), nullptr) << "it would lose its alignment";
    EXPECT_TRUE(heap.resize(aligned, 250 * KiB));
    auto* const inside = static_cast<unsigned char*>(heap.memalign(4 * KiB, 300 * KiB));
    inside[0] = 9;
    auto* const moved = static_cast<unsigned char*>(heap.relocate(inside, 9 * MiB));
    ASSERT_NE(moved, nullptr);
    EXPECT_EQ(addressOf(moved) % (4 * KiB), 0U);
    EXPECT_EQ(moved[0], 9);
    for (void* const each :
         {static_cast<void*>(object), neighbour, aligned, static_cast<void*>(moved)}) {
        heap.free(each);
    }
}

TEST_F(UnitObjectHeapTest, EndsTheProgramOnAWrongFree) {
    Large heap;
    auto* const object = static_cast<unsigned char*>(heap.malloc(100 * KiB));
    auto* const other = static_cast<unsigned char*>(heap.malloc(100 * KiB));
    heap.free(other);
    EXPECT_DEATH(heap.free(other), "free\\(\\): double free");
    EXPECT_DEATH((void)heap.getSize(other), "malloc_usable_size\\(\\): use of a freed object");
    EXPECT_DEATH((void)heap.resize(other, 1), "realloc\\(\\): use of a freed object");
    EXPECT_DEATH((void)heap.relocate(other, 1), "realloc\\(\\): use of a freed object");
    EXPECT_DEATH(heap.free(object + 16), "free\\(\\): invalid pointer");
    EXPECT_DEATH(heap.free(object + 40 * KiB), "free\\(\\): invalid pointer");
    EXPECT_DEATH(heap.check(object - 16, "free"), "free\\(\\): invalid pointer");
    heap.free(object);
}

TEST_F(UnitObjectHeapTest, RefusesSizesBeyondAnyMemory) {
    Large heap;
    for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2, SIZE_MAX / 4}) {
        const volatile std::size_t asked = size;
        EXPECT_EQ(heap.malloc(asked), nullptr);
        EXPECT_EQ(heap.zalloc(asked), nullptr);
        EXPECT_EQ(heap.memalign(4096, asked), nullptr);
        EXPECT_EQ(heap.memalign(1 * MiB, asked), nullptr);
    }
    void* const object = heap.malloc(100 * KiB);
    EXPECT_FALSE(heap.resize(object, SIZE_MAX));
    EXPECT_EQ(heap.relocate(object, SIZE_MAX), nullptr);
    EXPECT_EQ(heap.memalign(std::size_t{1} << 63U, 1), nullptr);
}

TEST_F(UnitObjectHeapTest, ShowsItsObjects) {
    Large heap;
    std::map<void*, std::size_t> expected;
    for (const std::size_t size : {20 * KiB, 300 * KiB, 9 * MiB, 90 * MiB}) {
        heap.free(heap.malloc(size / 2));
        void* const object = heap.memalign(size == 9 * MiB ? 64 * KiB : 16, size);
        expected[object] = heap.getSize(object);
    }
    std::map<void*, std::size_t> shown;
    const auto note = [&shown](const LiveObject& object) {
        EXPECT_EQ(object.sizeClass, LiveObject::noClass);
        shown[object.address] = object.size;
    };
    heap.walk(ObjectVisitor(note));
    EXPECT_EQ(shown, expected);
    HeapSnapshot snapshot;
    heap.inspect(snapshot);
    EXPECT_EQ(snapshot.large.objects, 4U);
    EXPECT_EQ(snapshot.large.direct, 2U);
    EXPECT_GE(snapshot.large.directBytes, 99 * MiB);
    EXPECT_GE(snapshot.source.usedBytes, snapshot.large.bytes);
}

TEST_F(UnitObjectHeapTest, HoldsASharedHeapOverAFork) {
    Shared heap;
    void* const object = heap.malloc(100 * KiB);
    heap.beforeFork();
    const pid_t child = startChild([&] {
        heap.afterForkInChild();
        heap.free(object);
        return heap.malloc(3 * MiB) != nullptr;
    });
    heap.afterForkInParent();
    EXPECT_EQ(statusOf(child), 0);
    heap.free(object);
    heap.trim(0);
    EXPECT_EQ(ExtentLedger::the().mapped(), 0U);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/carve/coalesce_heap.hpp>
#include <heapwright/layers/object/checked_heap.hpp>
#include <heapwright/layers/object/coalesceable_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/source/reserve_heap.hpp>
#include <heapwright/layers/thread/arena_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/other_thread.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace heapwright::testing {
namespace {

using Objects = CoalesceableHeap<ReserveHeap<4 * MiB>>;
using Checked = CheckedHeap<CoalesceHeap<4 * KiB, Objects>>;
using Arena = LockedHeap<FutexLock, Checked>;
template <class ArenaPolicy>
using Arenas = ArenaHeap<ArenaPolicy, Arena>;

std::size_t mappedBy(auto& heap) {
    MemoryUsage usage;
    heap.measure(usage);
    return usage.mapped;
}

TEST(ArenaHeap, ReturnsMemoryToTheHeapItCameFrom) {
    Arenas<ByThread<4>> heap;
    void* const object = heap.malloc(100);
    ASSERT_NE(object, nullptr);
    std::memset(object, 1, heap.getSize(object));
    void* fence = heap.malloc(100);
    elsewhere(4, [&] {
        void* const other = heap.malloc(100);
        EXPECT_GT(addressOf(other) > addressOf(object) ? addressOf(other) - addressOf(object)
                                                       : addressOf(object) - addressOf(other),
                  MiB / 2)
            << "another region";
        heap.free(object);
        heap.free(other);
    });
    EXPECT_EQ(heap.malloc(100), object) << "it has come back";
    heap.free(object);
    heap.free(fence);
}

/// Where one thread allocates and another frees, memory goes home and serves again.
TEST(ArenaHeap, DoesNotBlowUpWhereOneThreadAllocatesAndAnotherFrees) {
    Arenas<ByThread<4>> heap;
    std::size_t after = 0;
    for (int round = 0; round < 10; ++round) {
        std::vector<void*> objects(1000);
        for (void*& object : objects) {
            object = heap.malloc(100);
        }
        elsewhere(4, [&] {
            for (void* const object : objects) {
                heap.free(object);
            }
        });
        after = round == 0 ? mappedBy(heap) : after;
    }
    EXPECT_EQ(mappedBy(heap), after);
}

/// The worst case of ownership: memory that each heap in turn is left with serves no other.
TEST(ArenaHeap, BlowsUpByTheNumberOfItsHeaps) {
    constexpr std::size_t heaps = 8;
    constexpr std::size_t kept = 2000;
    using Source = SizeHeap<ChunkHeap<64 * KiB, 8, CoalesceHeap<64 * KiB, Objects>>>;
    ArenaHeap<RoundRobin<heaps>, LockedHeap<FutexLock, CheckedHeap<Source>>> heap;
    std::vector<std::size_t> mapped;
    for (std::size_t turn = 0; turn < heaps; ++turn) {
        std::vector<void*> objects;
        while (objects.size() < kept) {
            for (std::size_t i = 0; i < heaps; ++i) {
                void* const object = heap.malloc(i == turn ? 1000 : 1);
                if (i == turn) {
                    objects.push_back(object);
                } else {
                    heap.free(object);
                }
            }
        }
        for (void* const object : objects) {
            heap.free(object);
        }
        mapped.push_back(mappedBy(heap));
    }
    for (std::size_t turn = 1; turn < heaps; ++turn) {
        EXPECT_GT(mapped[turn], mapped[turn - 1] + kept * 900) << turn;
    }
}

TEST(ArenaHeap, ItsDestructorReturnsAllMemory) {
    void* object = nullptr;
    {
        Arenas<RoundRobin<4>> heap;
        for (int i = 0; i < 20; ++i) {
            object = heap.malloc(5000);
        }
        EXPECT_TRUE(heap.owns(object) && heap.owns(forward(object, 4000)));
        EXPECT_NE(RegionMap::ownerOf(object), nullptr);
    }
    EXPECT_EQ(RegionMap::ownerOf(object), nullptr);
}

TEST(ArenaHeap, OwnsOnlyItsOwnObjects) {
    Arenas<ByThread<2>> one;
    Arenas<ByThread<2>> other;
    int local = 0;
    void* const object = one.malloc(10);
    EXPECT_TRUE(one.owns(object));
    EXPECT_FALSE(other.owns(object) || one.owns(&local) || one.owns(&one) || one.owns(nullptr));
    one.free(object);
}

template <class Policy>
class ArenaHeapHome : public ::testing::Test {};
using PoliciesWithAHome = ::testing::Types<ByThread<4>, FirstFree<4>>;
TYPED_TEST_SUITE(ArenaHeapHome, PoliciesWithAHome, );

TYPED_TEST(ArenaHeapHome, AnObjectIsAtHomeWithTheThreadThatItsArenaServes) {
    Arenas<TypeParam> heap;
    int local = 0;
    void* const object = heap.malloc(10);
    EXPECT_TRUE(heap.isHome(object));
    EXPECT_FALSE(heap.isHome(&local));
    void* foreign = nullptr;
    elsewhere(4, [&] {
        foreign = heap.malloc(10);
        EXPECT_TRUE(heap.isHome(foreign));
        EXPECT_FALSE(heap.isHome(object));
    });
    EXPECT_FALSE(heap.isHome(foreign));
    heap.free(foreign);
    heap.free(object);
}

TEST(ArenaHeap, HasNoHomeForThreadsIfHeapsServeInTurn) {
    EXPECT_TRUE(HomeHeap<Arenas<ByThread<4>>>);
    EXPECT_FALSE(HomeHeap<Arenas<RoundRobin<4>>>);
}

TEST(ArenaHeap, RefusesSizesAndGoesOn) {
    Arenas<FirstFree<4>> heap;
    const volatile std::size_t huge = SIZE_MAX - 8;
    EXPECT_EQ(heap.malloc(huge), nullptr);
    EXPECT_EQ(heap.memalign(64, huge), nullptr);
    void* const object = heap.memalign(4096, 10);
    EXPECT_EQ(addressOf(object) % 4096, 0U);
    EXPECT_FALSE(heap.resize(object, huge));
    EXPECT_TRUE(heap.resize(object, 1));
    heap.free(object);
}

TEST(ArenaHeapDeathTest, AbortsOnAnObjectOfAnotherHeap) {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    Arenas<ByThread<2>> heap;
    Arenas<ByThread<2>> other;
    alignas(16) unsigned char memory[64] = {};
    void* const object = heap.malloc(100);
    EXPECT_DEATH(heap.free(memory + 32), "heapwright: free\\(\\): invalid pointer");
    EXPECT_DEATH(other.free(object), "heapwright: free\\(\\): invalid pointer");
    EXPECT_DEATH(heap.free(pointerTo(16)), "heapwright: free\\(\\): invalid pointer");
    EXPECT_DEATH((void)other.getSize(object),
                 "heapwright: malloc_usable_size\\(\\): invalid pointer");
    EXPECT_DEATH((void)other.resize(object, 1), "heapwright: realloc\\(\\): invalid pointer");
    heap.free(object);
    EXPECT_DEATH(heap.free(object), "heapwright: free\\(\\): double free");
}

TEST(ArenaHeap, StandsOnHeapsThatMapTheirRegions) {
    EXPECT_TRUE(ConcurrentHeap<Arenas<ByThread<4>>> && OwningHeap<Arenas<ByThread<4>>>);
    EXPECT_TRUE(ForkableHeap<Arenas<ByThread<4>>> && TrimmableHeap<Arenas<ByThread<4>>>);
    EXPECT_TRUE(TaggedHeap<Arenas<ByThread<4>>>) << "the arenas check what is freed";
    using Unchecked = LockedHeap<FutexLock, CoalesceHeap<4 * KiB, Objects>>;
    EXPECT_FALSE((TaggedHeap<ArenaHeap<ByThread<4>, Unchecked>>));
    EXPECT_TRUE(RegionalHeap<Arena>);
    EXPECT_FALSE((RegionalHeap<LockedHeap<FutexLock, MmapHeap>>));
}

} // namespace
} // namespace heapwright::testing

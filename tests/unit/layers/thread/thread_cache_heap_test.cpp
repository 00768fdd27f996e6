// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/address.hpp>
#include <heapwright/layers/carve/aligned_block_heap.hpp>
#include <heapwright/layers/carve/coalesce_heap.hpp>
#include <heapwright/layers/carve/superblock_heap.hpp>
#include <heapwright/layers/object/checked_heap.hpp>
#include <heapwright/layers/object/coalesceable_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/source/reserve_heap.hpp>
#include <heapwright/layers/thread/arena_heap.hpp>
#include <heapwright/layers/thread/thread_cache_heap.hpp>
#include <heapwright/sizeclass/exact.hpp>
#include <heapwright/sizeclass/geometric_slots.hpp>

#include <support/other_thread.hpp>

#include <gtest/gtest.h>

#include "cache_tests.hpp"

#include <vector>

namespace heapwright::testing {
namespace {

template <std::size_t Most, class Overflow, class Below = Shared1>
using Cached = ThreadCacheHeap<Exact<4>, Most, Overflow, 64, Below>; // 24, 40, 56 and 72 bytes

TEST(ThreadCacheHeap, ServesTheObjectThatTheThreadFreedLast) {
    Ledger::begin();
    {
        Cached<1024, Batches<1>> heap;
        void* const one = heap.malloc(40);
        void* const other = heap.malloc(30);
        heap.free(one);
        heap.free(other);
        EXPECT_EQ(heap.malloc(33), other);
        EXPECT_EQ(heap.malloc(40), one);
        EXPECT_EQ(Ledger::the().requests, 2U);
        heap.free(one);
        void* const larger = heap.malloc(41);
        EXPECT_NE(larger, one) << "that is another class";
        EXPECT_EQ(Ledger::the().requests, 3U);
        heap.free(larger);
        heap.free(other);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(ThreadCacheHeap, IsFilledAndEmptiedByBatches) {
    Ledger::begin();
    {
        Cached<1024, Batches<8>> heap;
        void* const first = heap.malloc(24);
        EXPECT_EQ(Ledger::the().requests, 2U) << "one more: two are a sixteenth of the room";
        heap.free(first);
        freeAll(heap, several(heap, 100));
        const std::size_t kept = Ledger::the().live.size();
        EXPECT_LE(kept * 24, 1024U);
        EXPECT_GE(kept * 24, 1024U - 2 * 24U - 24U);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(ThreadCacheHeap, MakesRoomForAClassByAnother) {
    Ledger::begin();
    {
        Cached<256, Batches<4>> heap;
        const std::vector<void*> small = several(heap, 10);
        void* const large = heap.malloc(72);
        freeAll(heap, small);
        heap.free(large);
        EXPECT_EQ(heap.mallocHeld(72), large);
        heap.free(large);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(ThreadCacheHeap, MovesSingleObjectsFromAFullCache) {
    Ledger::begin();
    {
        Cached<128, Singles> heap; // three objects of 40 bytes
        void* const first = heap.malloc(40);
        EXPECT_EQ(Ledger::the().requests, 1U) << "a miss takes one object";
        const std::vector<void*> others = several(heap, 3, 40);
        heap.free(first);
        freeAll(heap, others);
        EXPECT_EQ(Ledger::the().live.size(), 3U) << "the last one did not fit";
        EXPECT_EQ(heap.malloc(40), others[1]);
        heap.free(others[1]);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(ThreadCacheHeap, TheOldestObjectsLeaveAFullCacheFirst) {
    Ledger::begin();
    {
        Cached<400, Ages<4>> heap; // ten objects of 40 bytes
        const std::vector<void*> objects = several(heap, 11, 40);
        void* const large = heap.malloc(72);
        heap.free(large); // eight frees will follow
        for (std::size_t i = 0; i < 8; ++i) {
            heap.free(objects[i]);
        }
        EXPECT_EQ(Ledger::the().live.size(), 12U) << "392 bytes wait";
        heap.free(objects[8]); // the objects that four frees or more have followed return
        EXPECT_EQ(Ledger::the().live.size(), 6U) << "the large one and five others are gone";
        EXPECT_EQ(heap.malloc(40), objects[8]);
        EXPECT_EQ(heap.malloc(40), objects[7]);
        EXPECT_EQ(heap.malloc(40), objects[6]);
        EXPECT_EQ(heap.malloc(40), objects[5]);
        for (std::size_t i = 5; i < 11; ++i) {
            heap.free(objects[i]);
        }
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(ThreadCacheHeap, YoungObjectsLeaveIfTheOldOnesMakeNoRoom) {
    Ledger::begin();
    {
        Cached<128, Ages<64>> heap;
        const std::vector<void*> objects = several(heap, 4, 40);
        freeAll(heap, objects);
        EXPECT_EQ(Ledger::the().live.size(), 2U) << "two objects were two frees old or older";
        EXPECT_EQ(heap.malloc(40), objects[3]);
        heap.free(objects[3]);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

/// Power-of-two classes in superblocks, as the thread's cache of TCMalloc has them below.
using Central =
    LockedHeap<FutexLock, SuperblockHeap<GeometricSlots<2, 1, 16, 4 * KiB>,
                                         AlignedBlockHeap<32 * KiB, 1 * MiB, MmapHeap>>>;
template <class Overflow>
using BeforeCentral =
    ThreadCacheHeap<GeometricSlots<2, 1, 16, 4 * KiB>, 256 * KiB, Overflow, 64, Central>;

TEST(ThreadCacheHeap, StartsWithOneObjectAndFetchesOneMoreAtEachMiss) {
    Ledger::begin();
    {
        Cached<16 * KiB, SlowStart<1, 4>> heap;
        std::vector<void*> objects;
        std::vector<std::size_t> misses;
        for (std::size_t i = 0; i < 14; ++i) {
            const std::size_t before = Ledger::the().requests;
            objects.push_back(heap.malloc(40));
            if (Ledger::the().requests != before) {
                misses.push_back(Ledger::the().requests - before);
            }
        }
        EXPECT_EQ(misses, (std::vector<std::size_t>{1, 2, 3, 4, 4}));
        EXPECT_EQ(several(heap, 1, 24).size(), 1U) << "another class starts anew";
        EXPECT_EQ(Ledger::the().requests, 15U);
        freeAll(heap, objects);
    }
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(ThreadCacheHeap, AFirstFetchOfALineGivesNoLineToTwoThreads) {
    const auto neighbours = [](auto& heap) {
        void* const mine = heap.malloc(8);
        void* other = nullptr;
        elsewhere(64, [&] { other = heap.malloc(8); });
        const bool together = addressOf(mine) / 64 == addressOf(other) / 64;
        heap.free(other);
        heap.free(mine);
        return together;
    };
    BeforeCentral<SlowStart<1, 32>> single;
    EXPECT_TRUE(neighbours(single)) << "each thread takes one object of 16 bytes";
    BeforeCentral<SlowStart<64, 32>> line;
    EXPECT_FALSE(neighbours(line));
}

TEST(ThreadCacheHeap, AFirstFetchOfALineIsOneObjectFromALineOn) {
    Ledger::begin();
    {
        Cached<16 * KiB, SlowStart<64, 4>> heap;
        std::vector<void*> objects;
        std::vector<std::size_t> fetched;
        for (const std::size_t size : {24U, 40U, 56U, 72U}) {
            const std::size_t before = Ledger::the().requests;
            objects.push_back(heap.malloc(size));
            fetched.push_back(Ledger::the().requests - before);
        }
        EXPECT_EQ(fetched, (std::vector<std::size_t>{3, 2, 2, 1}));
        freeAll(heap, objects);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

/// The arenas of ptmalloc2, in small.
using ArenaSpace =
    LockedHeap<FutexLock,
               CheckedHeap<CoalesceHeap<4 * KiB, CoalesceableHeap<ReserveHeap<4 * MiB>>>>>;
template <class Overflow>
using BeforeArenas =
    ThreadCacheHeap<Exact<4>, 1024, Overflow, 64, ArenaHeap<ByThread<4>, ArenaSpace>>;

/// What another thread gets after it has freed an object of the calling thread.
void* reusedElsewhere(auto& heap, void* object, std::size_t size) {
    void* got = nullptr;
    elsewhere(4, [&] {
        heap.free(object);
        got = heap.malloc(size);
        heap.free(got);
    });
    return got;
}

TEST(ThreadCacheHeap, KeepsSmallObjectsOfItsOwnArenaOnlyIfThePolicySaysSo) {
    BeforeArenas<Singles> any;
    void* object = any.malloc(40);
    EXPECT_EQ(reusedElsewhere(any, object, 40), object) << "the cache takes a block of any arena";
    BeforeArenas<OwnArena<64, Singles>> own;
    object = own.malloc(40);
    EXPECT_NE(reusedElsewhere(own, object, 40), object);
    EXPECT_EQ(own.malloc(40), object) << "it has returned to its arena";
    own.free(object);
    EXPECT_EQ(own.malloc(40), object) << "the cache keeps what is of its thread's arena";
    own.free(object);
    object = own.malloc(72);
    EXPECT_EQ(reusedElsewhere(own, object, 72), object) << "not smaller than a line";
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/observe/debug_heap.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace heapwright::testing {
namespace {

using Debug = DebugHeap<CountingHeap>;

/// Gives out the same memory again and again.
class RepeatingHeap : public CountingHeap {
public:
    [[nodiscard]] void* malloc(std::size_t) noexcept { return memory_; }
    void free(void*) noexcept {}

private:
    alignas(16) unsigned char memory_[256] = {};
};

class DebugHeapDeathTest : public ::testing::Test {
protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        Ledger::begin();
    }

    unsigned char* taken(std::size_t size) {
        return static_cast<unsigned char*>(heap_.malloc(size));
    }

    template <class Act>
    static void dies(Act act, const char* words) {
        EXPECT_EXIT(act(), ::testing::KilledBySignal(SIGABRT), words);
    }

    Debug heap_;
};

TEST_F(DebugHeapDeathTest, FillsNewAndFreedMemory) {
    unsigned char* const object = taken(100);
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(object[i], Debug::newByte);
    }
    heap_.free(object);
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(object[i], Debug::freedByte) << "it waits, and so can be read";
    }
}

TEST_F(DebugHeapDeathTest, LeavesZeroMemoryZero) {
    DebugHeap<ZeroingCountingHeap> heap;
    auto* const object = static_cast<unsigned char*>(heap.zalloc(100));
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(object[i], 0);
    }
    heap.free(object);
}

TEST_F(DebugHeapDeathTest, KnowsTheSizeToTheByteOverAnyHeap) {
    DebugHeap<ChunkHeap<4 * KiB, 0, CountingHeap>> heap;
    void* const object = heap.malloc(101);
    EXPECT_EQ(heap.getSize(object), 101U);
    EXPECT_TRUE(heap.resize(object, 7));
    EXPECT_EQ(heap.getSize(object), 7U);
    EXPECT_FALSE(heap.resize(object, 8)) << "nobody below can say that there is room";
    heap.free(object);
}

TEST_F(DebugHeapDeathTest, DiesOfADoubleFree) {
    unsigned char* const object = taken(100);
    heap_.free(object);
    dies([&] { heap_.free(object); }, "^heapwright: free\\(\\): double free\n");
    heap_.flush();
    dies([&] { heap_.free(object); }, "^heapwright: free\\(\\): double free\n");
}

TEST_F(DebugHeapDeathTest, DiesOfAPointerThatIsNoObject) {
    unsigned char* const object = taken(100);
    alignas(16) unsigned char memory[64] = {};
    dies([&] { heap_.free(memory + 16); }, "^heapwright: free\\(\\): invalid pointer\n");
    dies([&] { heap_.free(pointerTo(16)); }, "^heapwright: free\\(\\): invalid pointer\n");
    dies([&] { heap_.free(object + 100); }, "^heapwright: free\\(\\): invalid pointer\n");
    heap_.free(object);
}

TEST_F(DebugHeapDeathTest, DiesOfAPointerIntoAnObject) {
    unsigned char* const object = taken(100);
    for (const int offset : {1, 16, 99}) {
        dies([&] { heap_.free(object + offset); },
             "^heapwright: free\\(\\): pointer inside an object\n");
    }
    dies([&] { static_cast<void>(heap_.resize(object + 16, 1)); },
         "^heapwright: realloc\\(\\): pointer inside an object\n");
    dies([&] { static_cast<void>(heap_.getSize(object + 16)); },
         "^heapwright: malloc_usable_size\\(\\): pointer inside an object\n");
    heap_.free(object);
}

TEST_F(DebugHeapDeathTest, DiesOfTheUseOfAFreedObject) {
    unsigned char* const object = taken(100);
    heap_.free(object);
    dies([&] { static_cast<void>(heap_.resize(object, 10)); },
         "^heapwright: realloc\\(\\): use of a freed object\n");
    dies([&] { static_cast<void>(heap_.getSize(object)); },
         "^heapwright: malloc_usable_size\\(\\): use of a freed object\n");
}

TEST_F(DebugHeapDeathTest, AbortsWhenTheHeapBelowReturnsALiveObject) {
    DebugHeap<RepeatingHeap> heap;
    EXPECT_NE(heap.malloc(64), nullptr);
    dies([&] { static_cast<void>(heap.malloc(64)); },
         "^heapwright: malloc\\(\\): overlapping object\n");
}

TEST_F(DebugHeapDeathTest, DiesOfAWriteAfterFreeWhenTheObjectLeaves) {
    unsigned char* const object = taken(100);
    heap_.free(object);
    object[99] ^= 1U;
    const char* const words = "^heapwright: free\\(\\): use after free\n";
    dies([&] { heap_.flush(); }, words);
    dies([&] { heap_.~Debug(); }, words);
    dies(
        [&] {
            for (int i = 0; i < 256; ++i) {
                heap_.free(heap_.malloc(16));
            }
        },
        words);
    object[99] ^= 1U;
}

TEST_F(DebugHeapDeathTest, HoldsTheLatestFreedObjectsAndNoMore) {
    std::vector<void*> objects(300);
    for (void*& object : objects) {
        object = heap_.malloc(48);
    }
    for (void* const object : objects) {
        heap_.free(object);
    }
    EXPECT_EQ(Ledger::the().live.size(), 256U);
    EXPECT_EQ(Ledger::the().live.count(objects.front()), 0U) << "the first to go is the oldest";
    heap_.free(heap_.malloc(1 * MiB + 1));
    EXPECT_TRUE(Ledger::the().live.empty()) << "more than a mebibyte waits for nobody";
}

TEST_F(DebugHeapDeathTest, MeasuresAndFlushesWaitingObjects) {
    heap_.free(heap_.malloc(100));
    MemoryUsage usage;
    heap_.measure(usage);
    EXPECT_EQ(usage.mapped, 100U);
    EXPECT_EQ(usage.held, 100U);
    EXPECT_EQ(usage.heldCount, 1U);
    EXPECT_TRUE(heap_.flush());
    EXPECT_FALSE(heap_.flush());
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST_F(DebugHeapDeathTest, TriesAgainWithWaitingObjects) {
    DebugHeap<FreelistHeap<CountingHeap>> heap;
    void* const object = heap.malloc(48);
    heap.free(object);
    Ledger::the().refuse = Ledger::all;
    EXPECT_EQ(heap.malloc(48), object) << "which waited until there was nothing else";
    EXPECT_EQ(heap.malloc(48), nullptr);
    heap.free(object);
    EXPECT_EQ(heap.mallocHeld(48), object);
}

TEST_F(DebugHeapDeathTest, KeepsItsStateIfTheHeapBelowReturnsNull) {
    for (std::size_t refuse = 1; refuse <= 4; ++refuse) {
        {
            Ledger::begin(refuse);
            Debug heap;
            std::size_t got = 0;
            for (int i = 0; i < 3; ++i) {
                got += heap.malloc(100) != nullptr ? 1U : 0U;
            }
            EXPECT_EQ(got, refuse <= 3 ? 2U : 3U);
            EXPECT_EQ(heap.liveCount(), got);
        }
        EXPECT_TRUE(Ledger::the().live.empty());
    }
    EXPECT_EQ(heap_.malloc(~std::size_t{0}), nullptr);
    EXPECT_EQ(heap_.liveCount(), 0U);
}

TEST_F(DebugHeapDeathTest, ReportsLiveObjects) {
    unsigned char* const kept = taken(24);
    heap_.free(taken(24));
    EXPECT_EQ(heap_.liveCount(), 1U);
    std::vector<std::pair<void*, std::size_t>> seen;
    heap_.forEachLive([&](void* object, std::size_t size) { seen.emplace_back(object, size); });
    EXPECT_EQ(seen, (std::vector<std::pair<void*, std::size_t>>{{kept, 24}}));
    EXPECT_TRUE(heap_.owns(kept + 23));
    EXPECT_FALSE(heap_.owns(kept + 24));
}

TEST_F(DebugHeapDeathTest, DiesWithLiveObjectsOverAHeapThatWouldNotReturnThem) {
    {
        Debug heap;
        static_cast<void>(heap.malloc(100));
        heap.free(heap.malloc(100));
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST_F(DebugHeapDeathTest, ClearsIfTheHeapBelowDoes) {
    static_assert(!ClearableHeap<Debug>);
    DebugHeap<ChunkHeap<4 * KiB, 0, CountingHeap>> heap;
    auto* const object = static_cast<unsigned char*>(heap.malloc(100));
    static_cast<void>(heap.malloc(100));
    heap.free(object);
    object[50] ^= 1U;
    dies([&] { heap.clear(); }, "^heapwright: free\\(\\): use after free\n");
    object[50] ^= 1U;
    heap.clear();
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(heap.liveCount(), 0U);
    EXPECT_NE(heap.malloc(100), nullptr);
}

TEST_F(DebugHeapDeathTest, FollowsAnObjectThatGrowsAndMoves) {
    DebugHeap<MmapHeap> heap;
    auto* const object = static_cast<unsigned char*>(heap.malloc(100));
    ASSERT_TRUE(heap.resize(object, 3000)) << "in the same page";
    EXPECT_EQ(object[99], Debug::newByte);
    EXPECT_EQ(object[2999], Debug::newByte);
    object[0] = 1;
    auto* const moved = static_cast<unsigned char*>(heap.relocate(object, 100 * KiB));
    ASSERT_NE(moved, nullptr);
    EXPECT_EQ(moved[0], 1);
    EXPECT_EQ(moved[100 * KiB - 1], Debug::newByte);
    EXPECT_EQ(heap.getSize(moved), 100 * KiB);
    EXPECT_EQ(heap.liveCount(), 1U);
    heap.free(moved);
}

TEST_F(DebugHeapDeathTest, PassesAlignmentOn) {
    DebugHeap<MmapHeap> heap;
    void* const object = heap.memalign(4096, 100);
    EXPECT_EQ(addressOf(object) % 4096, 0U);
    EXPECT_EQ(heap.getSize(object), 100U);
    heap.free(object);
}

} // namespace
} // namespace heapwright::testing

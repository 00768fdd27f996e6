// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/object/align_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/observe/canary_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

/// Blocks that are not returned, so that a freed object can be read.
class KeepingCountingHeap : public CountingHeap {
public:
    void free(void*) noexcept {}
};

using Canary = CanaryHeap<CountingHeap>;
using Aligned = CanaryHeap<AlignHeap<SizeHeap<CountingHeap>>>;

class CanaryHeapDeathTest : public ::testing::Test {
protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        Ledger::begin();
    }

    template <class H>
    static unsigned char* taken(H& heap, std::size_t size) {
        return static_cast<unsigned char*>(heap.malloc(size));
    }

    template <class Act>
    static void dies(Act act, const char* words) {
        EXPECT_EXIT(act(), ::testing::KilledBySignal(SIGABRT), words);
    }

    Canary heap_;
};

TEST_F(CanaryHeapDeathTest, LetsTheWholeObjectBeUsed) {
    for (std::size_t size = 1; size < 100; ++size) {
        void* const object = heap_.malloc(size);
        std::memset(object, 0xFF, size);
        EXPECT_EQ(heap_.getSize(object), size);
        heap_.free(object);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST_F(CanaryHeapDeathTest, DiesOfAnyChangedByteBehindTheObject) {
    for (const std::size_t size : {1U, 16U, 101U}) {
        unsigned char* const object = taken(heap_, size);
        for (std::size_t i = 0; i < 8; i += 7) {
            object[size + i] ^= 1U;
            dies([&] { heap_.free(object); }, "^heapwright: free\\(\\): overflow\n");
            object[size + i] ^= 1U;
        }
        heap_.free(object);
    }
}

TEST_F(CanaryHeapDeathTest, DiesOfAnyChangedByteBeforeTheObject) {
    unsigned char* const object = taken(heap_, 40);
    for (const int i : {-1, -8, -9, -16}) { // the last two are in the size
        object[i] ^= 1U;
        dies([&] { heap_.free(object); }, "^heapwright: free\\(\\): underflow\n");
        object[i] ^= 1U;
    }
    heap_.free(object);
}

TEST_F(CanaryHeapDeathTest, LooksInEveryVerbAndNamesItsRoutine) {
    unsigned char* const object = taken(heap_, 40);
    object[40] ^= 1U;
    dies([&] { static_cast<void>(heap_.resize(object, 10)); },
         "^heapwright: realloc\\(\\): overflow\n");
    dies([&] { static_cast<void>(heap_.getSize(object)); },
         "^heapwright: malloc_usable_size\\(\\): overflow\n");
    object[40] ^= 1U;
    heap_.free(object);
}

TEST_F(CanaryHeapDeathTest, DiesOfADoubleFreeWhileItsMarkStands) {
    CanaryHeap<KeepingCountingHeap> heap;
    unsigned char* const object = taken(heap, 40);
    heap.free(object);
    dies([&] { heap.free(object); }, "^heapwright: free\\(\\): double free\n");
    dies([&] { static_cast<void>(heap.resize(object, 1)); },
         "^heapwright: realloc\\(\\): use of a freed object\n");
}

TEST_F(CanaryHeapDeathTest, DiesOfAPointerThatIsNoObject) {
    alignas(16) unsigned char memory[64] = {};
    dies([&] { heap_.free(memory + 32); }, "^heapwright: free\\(\\): underflow\n");
    dies([&] { heap_.free(memory + 33); }, "^heapwright: free\\(\\): invalid pointer\n");
}

TEST_F(CanaryHeapDeathTest, NoTwoObjectsHaveTheSameCanary) {
    const auto wordAt = [](const unsigned char* place) {
        std::uint64_t word = 0;
        std::memcpy(&word, place, sizeof word);
        return word;
    };
    unsigned char* const one = taken(heap_, 40);
    unsigned char* const two = taken(heap_, 40);
    EXPECT_NE(wordAt(one + 40), wordAt(two + 40));
    EXPECT_NE(wordAt(one - 8), wordAt(two - 8));
    EXPECT_NE(wordAt(one - 8), wordAt(one + 40));
    heap_.free(one);
    heap_.free(two);
}

TEST_F(CanaryHeapDeathTest, TheCanaryBehindTheObjectHasNoZeroByte) {
    for (int i = 0; i < 200; ++i) { // many addresses
        unsigned char* const object = taken(heap_, 40);
        for (int byte = 40; byte < 48; ++byte) {
            EXPECT_NE(object[byte], 0);
        }
        if (i % 2 == 0) {
            heap_.free(object);
        }
    }
    Ledger::begin();
}

TEST_F(CanaryHeapDeathTest, IsAsConcurrentAsTheHeapBelow) {
    static_assert(ConcurrentHeap<CanaryHeap<LockedHeap<FutexLock, CountingHeap>>>);
    static_assert(!ConcurrentHeap<Canary>);
    static constinit CanaryHeap<LockedHeap<FutexLock, MmapHeap>> heap;
    std::vector<std::thread> threads;
    std::atomic<int> whole{0};
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&whole] {
            for (std::size_t size = 1; size < 200; ++size) {
                void* const object = heap.malloc(size);
                whole += heap.getSize(object) == size ? 1 : 0;
                heap.free(object);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(whole, 4 * 199);
}

TEST_F(CanaryHeapDeathTest, WorksOverAnAligningHeap) {
    Aligned heap;
    for (std::size_t align = 1; align <= 64 * KiB; align *= 2) {
        auto* const object = static_cast<unsigned char*>(heap.memalign(align, 100));
        ASSERT_NE(object, nullptr);
        EXPECT_EQ(addressOf(object) % align, 0U);
        EXPECT_EQ(heap.getSize(object), 100U);
        std::memset(object, 0xFF, 100);
        object[100] ^= 1U;
        if (align == 64) {
            dies([&] { heap.free(object); }, "^heapwright: free\\(\\): overflow\n");
        }
        object[100] ^= 1U;
        heap.free(object);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST_F(CanaryHeapDeathTest, KeepsThePhaseAndUsesTheCapacityBelow) {
    CanaryHeap<ChunkHeap<4 * KiB, 8, CountingHeap>> heap;
    static_assert(alignmentOffsetOf<decltype(heap)> == 8);
    unsigned char* const object = taken(heap, 40);
    EXPECT_EQ(addressOf(object) % 16, 8U);
    EXPECT_TRUE(heap.resize(object, 20));
    EXPECT_EQ(heap.getSize(object), 20U);
    EXPECT_FALSE(heap.resize(object, 21)) << "nobody below can say that there is room";
    heap.free(object);
}

TEST_F(CanaryHeapDeathTest, GrowsIntoTheRoomThatIsThere) {
    CanaryHeap<SizeHeap<CountingHeap>> heap;
    unsigned char* const object = taken(heap, 33);
    ASSERT_TRUE(heap.resize(object, 10));
    EXPECT_EQ(heap.getSize(object), 10U);
    object[10] ^= 1U;
    dies([&] { heap.free(object); }, "^heapwright: free\\(\\): overflow\n");
    object[10] ^= 1U;
    ASSERT_TRUE(heap.resize(object, 33));
    EXPECT_FALSE(heap.resize(object, 3300));
    heap.free(object);
}

TEST_F(CanaryHeapDeathTest, MovesWithItsPages) {
    CanaryHeap<MmapHeap> heap;
    unsigned char* const object = taken(heap, 3000);
    std::memset(object, 7, 3000);
    auto* const moved = static_cast<unsigned char*>(heap.relocate(object, 300 * KiB));
    ASSERT_NE(moved, nullptr);
    EXPECT_EQ(moved[2999], 7);
    EXPECT_EQ(heap.getSize(moved), 300 * KiB);
    auto* const aligned = static_cast<unsigned char*>(heap.memalign(1024, 10));
    void* const movedToo = heap.relocate(aligned, 100 * KiB);
    ASSERT_NE(movedToo, nullptr);
    EXPECT_EQ(addressOf(movedToo) % 1024, 0U);
    heap.free(moved);
    heap.free(movedToo);
}

TEST_F(CanaryHeapDeathTest, LeavesZeroMemoryZero) {
    CanaryHeap<ZeroingCountingHeap> heap;
    auto* const object = static_cast<unsigned char*>(heap.zalloc(100));
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(object[i], 0);
    }
    heap.free(object);
}

TEST_F(CanaryHeapDeathTest, RefusesSizesThatOverflowAndReturnsNullIfTheHeapBelowDoes) {
    Aligned heap;
    for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX - 24, SIZE_MAX / 2}) {
        EXPECT_EQ(heap_.malloc(size), nullptr);
        EXPECT_EQ(heap.memalign(4096, size), nullptr);
        EXPECT_EQ(heap.memalign(std::size_t{1} << 63U, size), nullptr);
    }
    Ledger::begin(1);
    EXPECT_EQ(heap_.malloc(40), nullptr);
    void* const object = heap_.malloc(40);
    ASSERT_NE(object, nullptr);
    heap_.free(object);
}

} // namespace
} // namespace heapwright::testing

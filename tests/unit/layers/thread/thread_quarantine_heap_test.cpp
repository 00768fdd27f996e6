// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/layers/thread/thread_quarantine_heap.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/counting_heap.hpp>
#include <support/shown_heap.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace heapwright::testing {
namespace {

using Source = LockedHeap<FutexLock, CountingHeap>;
using Heap = ThreadQuarantineHeap<16, 64 * KiB, 64, Source>;

class ThreadQuarantineHeapTest : public ::testing::Test {
protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        Ledger::begin();
    }
};
using ThreadQuarantineHeapDeathTest = ThreadQuarantineHeapTest;

TEST_F(ThreadQuarantineHeapTest, LetsObjectsWaitAndPoisonsThem) {
    Heap heap;
    auto* const object = static_cast<unsigned char*>(heap.malloc(64));
    std::memset(object, 1, 64);
    heap.free(object);
    EXPECT_EQ(Ledger::the().live.count(object), 1U) << "it is not below yet";
    for (int byte = 0; byte < 64; ++byte) {
        EXPECT_EQ(object[byte], Poisoned::poison);
    }
}

TEST_F(ThreadQuarantineHeapTest, ReleasesObjectsInRandomOrder) {
    Heap heap;
    std::vector<void*> freed;
    for (int each = 0; each < 400; ++each) {
        freed.push_back(heap.malloc(32));
    }
    std::vector<std::size_t> waited; // how many frees later each went below
    std::set<std::size_t> gone;
    for (std::size_t now = 0; now < freed.size(); ++now) {
        heap.free(freed[now]);
        for (std::size_t each = 0; each <= now; ++each) {
            if (gone.count(each) == 0 && Ledger::the().live.count(freed[each]) == 0) {
                gone.insert(each);
                waited.push_back(now - each);
            }
        }
    }
    EXPECT_GT(gone.size(), 300U);
    for (const std::size_t frees : waited) {
        EXPECT_GT(frees, 16U) << "the queue is that long";
    }
    EXPECT_GT(std::set<std::size_t>(waited.begin(), waited.end()).size(), 8U);
}

TEST_F(ThreadQuarantineHeapTest, LetsNoMoreWaitThanItMayInBytes) {
    Heap heap;
    for (int each = 0; each < 100; ++each) {
        heap.free(heap.malloc(4 * KiB));
        EXPECT_LE(Ledger::the().outstanding(), 16U);
    }
    EXPECT_EQ(Ledger::the().outstanding(), 16U);
    void* const large = heap.malloc(4 * KiB + 8);
    heap.free(large);
    EXPECT_EQ(Ledger::the().live.count(large), 0U) << "so large an object does not wait";
}

TEST_F(ThreadQuarantineHeapTest, FillsAsManyBytesAsTheObjectIsKnownToHave) {
    Heap heap;
    auto* const object = static_cast<unsigned char*>(heap.malloc(64));
    std::memset(object, 1, 64);
    heap.freeKnown(object, 40);
    EXPECT_EQ(object[0], Poisoned::poison);
    EXPECT_EQ(object[39], Poisoned::poison);
    EXPECT_EQ(object[40], 1);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.held, 40U);
    EXPECT_EQ(usage.heldCount, 1U);
}

/// A size that the object stores may be changed by an underflow; the fill must not depend on it.
TEST_F(ThreadQuarantineHeapTest, TakesNoSizeThatAnObjectOrACallerStates) {
    static_assert(KnownSizeFreeHeap<Heap> && !SizedFreeHeap<Heap>);
    SizeHeap<Heap> tagged;
    auto* const object = static_cast<unsigned char*>(tagged.malloc(200));
    auto* const smaller = static_cast<unsigned char*>(tagged.malloc(8));
    std::memset(object, 1, 200);
    std::memcpy(object - 8, smaller - 8, 8); // the tag
    tagged.free(object);
    EXPECT_EQ(object[199], Poisoned::poison);
}

TEST_F(ThreadQuarantineHeapTest, LetsObjectsWaitAgainAfterItHasReleasedAll) {
    Heap heap;
    for (int round = 0; round < 50; ++round) {
        std::size_t most = 0;
        for (int each = 0; each < 7 * round; ++each) {
            heap.free(heap.malloc(4 * KiB - 8 * static_cast<std::size_t>(round)));
            most = std::max(most, Ledger::the().live.size());
        }
        EXPECT_LE(most, 17U) << "at most 64 KiB wait";
        EXPECT_GE(most, round < 3 ? 0U : 15U) << "and no less";
        heap.flush();
        EXPECT_TRUE(Ledger::the().live.empty());
    }
}

TEST_F(ThreadQuarantineHeapTest, HandsAllDownWhenItIsAskedTo) {
    Heap heap;
    for (int each = 0; each < 20; ++each) {
        heap.free(heap.malloc(100));
    }
    EXPECT_GT(Ledger::the().outstanding(), 0U);
    EXPECT_TRUE(heap.flush());
    EXPECT_EQ(Ledger::the().outstanding(), 0U);
    EXPECT_FALSE(heap.flush());
}

TEST_F(ThreadQuarantineHeapTest, AsksAgainWhenThereWasNoMemory) {
    Heap heap;
    heap.free(heap.malloc(100));
    Ledger::the().refuse = Ledger::the().requests + 1;
    EXPECT_NE(heap.malloc(100), nullptr);
    EXPECT_EQ(Ledger::the().outstanding(), 1U) << "what waited has gone below";
}

TEST_F(ThreadQuarantineHeapTest, ReturnsAllInTheEnd) {
    {
        Heap heap;
        for (std::size_t size = 1; size < 500; ++size) {
            heap.free(heap.malloc(size));
        }
        EXPECT_GT(Ledger::the().outstanding(), 0U);
    }
    EXPECT_EQ(Ledger::the().outstanding(), 0U);
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST_F(ThreadQuarantineHeapTest, HoldsNoBytesForThreadsThatHaveEnded) {
    Heap first;
    Heap second;                           // of the same type: one exit hook serves both
    for (int each = 0; each < 8; ++each) { // later threads reuse the slot
        std::thread([&first, &second] {
            for (std::size_t size = 8; size < 500; ++size) {
                first.free(first.malloc(size));
                second.free(second.malloc(size));
            }
            EXPECT_GT(Ledger::the().outstanding(), 0U);
        }).join();
        EXPECT_EQ(Ledger::the().outstanding(), 0U);
    }
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST_F(ThreadQuarantineHeapDeathTest, ChecksTheObjectsOfAThreadThatEnds) {
    Heap heap;
    const auto wrong = [&heap] {
        auto* const object = static_cast<unsigned char*>(heap.malloc(64));
        heap.free(object);
        object[20] = 1;
    };
    EXPECT_EXIT(std::thread(wrong).join(), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: free\\(\\): use after free\n");
}

TEST_F(ThreadQuarantineHeapTest, AHeapMayEndBeforeTheThreadsThatUsedIt) {
    auto* const heap = new Heap;
    std::atomic<int> step{0};
    std::thread user([heap, &step] {
        heap->free(heap->malloc(32));
        step = 1;
        while (step != 2) {
            std::this_thread::yield();
        }
    });
    while (step != 1) {
        std::this_thread::yield();
    }
    delete heap;
    step = 2;
    user.join();
    EXPECT_EQ(Ledger::the().outstanding(), 0U);
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST_F(ThreadQuarantineHeapDeathTest, DiesOfAWriteIntoWhatWaits) {
    for (const int byte : {0, 1, 8, 63}) {
        Heap heap;
        auto* const object = static_cast<unsigned char*>(heap.malloc(64));
        heap.free(object);
        object[byte] ^= 1U;
        EXPECT_EXIT(heap.flush(), ::testing::KilledBySignal(SIGABRT),
                    "^heapwright: free\\(\\): use after free\n");
        object[byte] ^= 1U;
    }
}

/// Knows the sizes of its objects at once. No free passes its fast path.
class RefusingHeap : public Source {
public:
    static constexpr bool splitPath = true;
    [[nodiscard]] void* tryMallocFast(std::size_t size) noexcept { return malloc(size); }
    [[nodiscard]] bool tryFreeFast(void* /*object*/) noexcept { return false; }
    [[nodiscard]] void* mallocSlow(std::size_t size) noexcept { return malloc(size); }
    void freeSlow(void* object) noexcept { free(object); }
    [[nodiscard]] std::size_t tryGetSizeFast(void* object) noexcept { return getSize(object); }
};

TEST_F(ThreadQuarantineHeapDeathTest, ChecksWhatItFreesWithAKnownSize) {
    using Knowing = ThreadQuarantineHeap<16, 64 * KiB, 64, RefusingHeap>;
    static_assert(FastKnownFreeHeap<Knowing> && SplitPathHeap<RefusingHeap>);
    for (const std::size_t size : {std::size_t{16}, Knowing::mostKnownFast}) {
        Knowing heap;
        auto* const object = static_cast<unsigned char*>(heap.malloc(size));
        std::memset(object, 1, size);
        heap.freeKnownFast(object, size);
        EXPECT_EQ(object[0], Poisoned::poison);
        EXPECT_EQ(object[size - 1], Poisoned::poison);
        object[size - 1] ^= 1U;
        EXPECT_EXIT(heap.flush(), ::testing::KilledBySignal(SIGABRT),
                    "^heapwright: free\\(\\): use after free\n");
        object[size - 1] ^= 1U;
        EXPECT_TRUE(heap.flush());
        EXPECT_TRUE(Ledger::the().live.empty()) << "the slow path released it";
    }
}

TEST_F(ThreadQuarantineHeapDeathTest, DiesOfADoubleFreeWhileItWaits) {
    Heap heap;
    void* const object = heap.malloc(64);
    heap.free(object);
    heap.free(heap.malloc(64));
    EXPECT_EXIT(heap.free(object), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: free\\(\\): double free\n");
}

TEST_F(ThreadQuarantineHeapTest, TakesAnObjectFullOfPoisonForWhatItIs) {
    Heap heap;
    void* const object = heap.malloc(64);
    std::memset(object, Poisoned::poison, 64);
    heap.free(object);
    EXPECT_TRUE(heap.flush());
}

TEST_F(ThreadQuarantineHeapTest, AForkedChildDrawsAnew) {
    ThreadQuarantineHeap<16, 64 * KiB, 64, MallocHeap> heap;
    heap.free(heap.malloc(32));
    heap.beforeFork();
    const pid_t child = ::fork();
    if (child == 0) {
        heap.afterForkInChild();
        for (int each = 0; each < 100; ++each) {
            heap.free(heap.malloc(32));
        }
        ::_exit(heap.flush() ? 0 : 1);
    }
    heap.afterForkInParent();
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

using Shown = ThreadQuarantineHeap<16, 64 * KiB, 64, ShownHeap>;
static_assert(InspectableHeap<Shown> && WalkableHeap<Shown> && PurgeableHeap<Shown>);
static_assert(!InspectableHeap<Heap> && !WalkableHeap<Heap> && !PurgeableHeap<Heap>);

TEST_F(ThreadQuarantineHeapTest, ShowsWhatWaitsAsFreed) {
    Shown heap;
    void* const live = heap.malloc(64);
    void* const freed = heap.malloc(64);
    void* const large = heap.malloc(2 * KiB); // it has no class, and may wait
    void* const huge = heap.malloc(16 * KiB); // it may not
    heap.free(freed);
    heap.free(large);
    const auto shown = walked(heap);
    EXPECT_EQ(shown.size(), 4U);
    EXPECT_FALSE(shown.at(live).cached);
    EXPECT_TRUE(shown.at(freed).cached);
    EXPECT_TRUE(shown.at(large).cached);
    EXPECT_FALSE(shown.at(huge).cached);
    HeapSnapshot snapshot;
    heap.inspect(snapshot);
    EXPECT_EQ(snapshot.classes[4].used, 2U);
    EXPECT_EQ(snapshot.classes[4].cached, 1U);
    EXPECT_EQ(snapshot.large.objects, 1U);
    EXPECT_EQ(snapshot.large.bytes, 16 * KiB);
    EXPECT_EQ(snapshot.totals().liveObjects, 2U);
    EXPECT_EQ(snapshot.totals().cachedObjects, 2U);
    EXPECT_EQ(snapshot.totals().cachedBytes, 64 + 2 * KiB);
    heap.flush();
    EXPECT_EQ(walked(heap).size(), 2U);
}

TEST_F(ThreadQuarantineHeapTest, ShowsWhatWaitsForOtherThreads) {
    Shown heap;
    void* const object = heap.malloc(64);
    std::atomic<int> step{0};
    std::thread other([&heap, object, &step] {
        heap.free(object);
        step = 1;
        while (step != 2) {
            std::this_thread::yield();
        }
    });
    while (step != 1) {
        std::this_thread::yield();
    }
    EXPECT_TRUE(walked(heap).at(object).cached);
    step = 2;
    other.join();
}

} // namespace
} // namespace heapwright::testing

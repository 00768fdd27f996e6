// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/combine/unique_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/layers/thread/signal_safe_heap.hpp>
#include <heapwright/layers/thread/thread_heap.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/counting_heap.hpp>
#include <support/other_thread.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heapwright::testing {
namespace {

/// A source that threads may share, and that counts.
class SharedCounting : public CountingHeap {
public:
    static constexpr bool acceptsForeignObjects = true;
};

using Private = LockedHeap<FutexLock, FreelistHeap<SharedCounting>>;
using Heap4 = ThreadHeap<4, Private>;

TEST(ThreadHeap, FreePutsTheObjectIntoTheHeapOfTheFreeingThread) {
    Ledger::begin();
    {
        Heap4 heap;
        void* object = nullptr;
        elsewhere(4, [&] { object = heap.malloc(32); });
        ASSERT_NE(object, nullptr);
        heap.free(object);
        EXPECT_EQ(heap.malloc(32), object) << "it is this thread's now";
        elsewhere(4, [&] {
            void* const other = heap.malloc(32);
            EXPECT_NE(other, object);
            heap.free(other);
        });
        EXPECT_EQ(Ledger::the().requests, 2U);
        heap.free(object);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

/// What its comment says of producer and consumer: memory that is freed elsewhere is not seen
/// again.
TEST(ThreadHeap, BlowsUpWhereOneThreadAllocatesAndAnotherFrees) {
    Ledger::begin();
    Heap4 heap;
    std::vector<void*> objects(10);
    for (int round = 0; round < 5; ++round) {
        for (void*& object : objects) {
            object = heap.malloc(32);
        }
        elsewhere(4, [&] {
            for (void* const object : objects) {
                heap.free(object);
            }
        });
    }
    EXPECT_EQ(Ledger::the().live.size(), 5 * objects.size());
}

TEST(ThreadHeap, FlushesClearsAndSumsAllHeaps) {
    Ledger::begin();
    Heap4 heap;
    heap.free(heap.malloc(32));
    elsewhere(4, [&] { heap.free(heap.malloc(32)); });
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.heldCount, 2U);
    EXPECT_TRUE(heap.flush());
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_FALSE(heap.flush());
}

TEST(ThreadHeap, CountsASourceThatItsHeapsShareOnce) {
    using Source = UniqueHeap<struct CountedOnce, LockedHeap<FutexLock, SizeHeap<MmapHeap>>>;
    ThreadHeap<4, LockedHeap<FutexLock, SizeHeap<Source>>> heap;
    void* const object = heap.malloc(100'000);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_GE(usage.mapped, 100'000U);
    EXPECT_LT(usage.mapped, 200'000U);
    heap.free(object);
}

TEST(ThreadHeap, SharedHeapMustAcceptForeignFrees) {
    EXPECT_TRUE(ConcurrentHeap<Heap4>);
    EXPECT_TRUE((ConcurrentHeap<Private> && ForeignFreeHeap<Private>));
    using Recording = LockedHeap<FutexLock, ChunkHeap<4096, 0, MallocHeap>>;
    EXPECT_TRUE(ConcurrentHeap<Recording> && !ForeignFreeHeap<Recording>);
    EXPECT_TRUE(ForeignFreeHeap<FreelistHeap<MmapHeap>> && !ConcurrentHeap<FreelistHeap<MmapHeap>>);
    EXPECT_TRUE((requires { typename ThreadHeap<2, MallocHeap>; }));
}

/// A handler that interrupted a request may fork, where the heaps can tell whose lock it is.
TEST(ThreadHeap, SurvivesAForkIfItsHeapsReportTheirLockHolder) {
    using Plain = SignalSafeHeap<ThreadHeap<2, MallocHeap>>;
    EXPECT_FALSE((ForkableHeap<ThreadHeap<2, MallocHeap>>));
    Plain heap;
    heap.beforeFork();
    heap.beforeFork();
    heap.afterForkInParent();
    heap.afterForkInParent();
    heap.free(heap.malloc(10));
    EXPECT_FALSE(Heap4::heldByThisThread());
}

TEST(ThreadHeap, IsFreeAgainOnBothSidesOfAFork) {
    Ledger::begin();
    Heap4 heap;
    heap.beforeFork();
    heap.afterForkInParent();
    heap.free(heap.malloc(32));
    heap.beforeFork();
    heap.afterForkInChild();
    elsewhere(4, [&] { heap.free(heap.malloc(32)); });
}

} // namespace
} // namespace heapwright::testing

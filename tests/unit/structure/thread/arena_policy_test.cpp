// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/structure/thread/arena_policy.hpp>
#include <heapwright/structure/thread/heap_array.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

using Locked = LockedHeap<FutexLock, MmapHeap>;

/// Which heap served; and an object, which is not looked at.
template <class ArenaPolicy, class Heaps>
std::size_t served(ArenaPolicy& assignment, Heaps& heaps) {
    std::size_t which = SIZE_MAX;
    const void* const object = assignment.serve(heaps, [&](auto& heap, std::size_t index) {
        which = index;
        return static_cast<void*>(&heap);
    });
    EXPECT_NE(object, nullptr);
    return which;
}

TEST(ByThread, GivesEachLiveThreadAPlaceThatItKeeps) {
    HeapArray<8, Locked> heaps;
    ByThread<8> assignment;
    const std::size_t mine = served(assignment, heaps);
    EXPECT_EQ(served(assignment, heaps), mine);
    EXPECT_EQ(ByThread<8>::mine(), mine);
    std::size_t other = mine;
    std::thread([&] {
        other = served(assignment, heaps);
        giveThreadSlotBack();
        EXPECT_EQ(served(assignment, heaps), other) << "to its very end";
    }).join();
    EXPECT_NE(other, mine);
}

TEST(RoundRobin, UsesHeapsInTurnAcrossThreads) {
    HeapArray<3, Locked> heaps;
    RoundRobin<3> assignment;
    std::vector<std::size_t> order;
    for (int i = 0; i < 3; ++i) {
        order.push_back(served(assignment, heaps));
        std::thread([&] { order.push_back(served(assignment, heaps)); }).join();
    }
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 0, 1, 2}));
}

/// Holds a heap's lock on another thread for as long as it lives.
class Inside {
public:
    explicit Inside(Locked& heap)
        : thread_([&] {
              EXPECT_TRUE(heap.attempt([&](auto& /*below*/) {
                  inside_ = true;
                  inside_.notify_one();
                  leave_.wait(false);
              }));
          }) {
        inside_.wait(false);
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() {
        leave_ = true;
        leave_.notify_one();
        thread_.join();
    }

private:
    std::atomic<bool> inside_{false};
    std::atomic<bool> leave_{false};
    std::thread thread_;
};

TEST(FirstFree, KeepsItsHeapUnlessAnotherThreadUsesIt) {
    HeapArray<3, Locked> heaps;
    FirstFree<3> assignment;
    const std::size_t mine = served(assignment, heaps);
    EXPECT_EQ(served(assignment, heaps), mine);
    std::size_t second = mine;
    {
        const Inside inside(heaps[mine]);
        second = served(assignment, heaps);
        EXPECT_NE(second, mine);
        EXPECT_EQ(served(assignment, heaps), second);
    }
    EXPECT_EQ(served(assignment, heaps), second) << "it does not come back for its own sake";
    const Inside inside(heaps[second]);
    EXPECT_EQ(served(assignment, heaps), mine) << "in use already, and free";
    const Inside there(heaps[mine]);
    const std::size_t third = served(assignment, heaps);
    EXPECT_EQ(std::set<std::size_t>({mine, second, third}).size(), 3U);
    EXPECT_EQ(assignment.used(), 3U);
}

TEST(FirstFree, WaitsForItsHeapIfNoneIsFree) {
    HeapArray<1, Locked> heaps;
    FirstFree<1> assignment;
    EXPECT_EQ(served(assignment, heaps), 0U);
    std::atomic<bool> done{false};
    std::thread waiting;
    {
        const Inside inside(heaps[0]);
        waiting = std::thread([&] {
            const void* const object = assignment.serve(heaps, [](auto& heap, std::size_t) {
                void* const one = heap.malloc(1); // waits, if this is the heap with its lock
                heap.free(one);
                return one;
            });
            EXPECT_NE(object, nullptr);
            done = true;
        });
        std::this_thread::yield();
        EXPECT_FALSE(done);
    }
    waiting.join();
    EXPECT_TRUE(done);
}

TEST(FirstFree, AsksTheOthersInUseWhereThereIsNoMemory) {
    HeapArray<3, Locked> heaps;
    FirstFree<3> assignment;
    const std::size_t mine = served(assignment, heaps);
    {
        const Inside inside(heaps[mine]);
        (void)served(assignment, heaps);
    }
    std::multiset<std::size_t> asked;
    const void* const object = assignment.serve(heaps, [&](auto& /*heap*/, std::size_t index) {
        asked.insert(index);
        return static_cast<void*>(nullptr);
    });
    EXPECT_EQ(object, nullptr);
    EXPECT_EQ(std::set<std::size_t>(asked.begin(), asked.end()).size(), assignment.used());
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Granary's cache as a walker over the heap sees it, with threads that stand still or run.
#include "owner_cache_tests.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

/// What is shown is what was given out, whose figures are the same; what a thread has freed but
/// keeps is shown as that.
TEST(OwnerCacheHeapWalk, VisitsLiveAndCachedObjects) {
    struct Name {};
    typename Stack<Name>::CachedSmall heap;
    std::map<void*, bool> expected; // whether it is kept
    std::mutex mutex;
    std::vector<void*> handed;
    std::atomic<int> turn{0};
    std::thread other([&] {
        for (std::size_t i = 0; i < 300; ++i) {
            void* const object = heap.malloc(16 + i % 500);
            const std::lock_guard hold(mutex);
            expected[object] = false;
            handed.push_back(object);
        }
        for (std::size_t i = 0; i < 10; ++i) {
            expected.erase(handed[i]);
            heap.free(handed[i]); // kept at home
        }
        turn = 1;
        turn.notify_all();
        turn.wait(1);
    });
    turn.wait(0);
    for (std::size_t i = 10; i < 15; ++i) {
        expected.erase(handed[i]);
        heap.free(handed[i]); // on its way home
    }
    std::map<void*, bool> seen;
    std::size_t liveBytes = 0;
    const auto collect = [&](const LiveObject& object) {
        EXPECT_TRUE(seen.emplace(object.address, object.cached).second);
        liveBytes += object.cached ? 0 : object.size;
    };
    heap.beforeFork();
    heap.walk(ObjectVisitor(collect));
    HeapSnapshot snapshot;
    heap.inspect(snapshot);
    heap.afterForkInParent();
    turn = 2;
    turn.notify_all();
    other.join();

    std::size_t live = 0;
    for (const auto& [object, kept] : seen) {
        live += kept ? 0U : 1U;
        EXPECT_EQ(expected.count(object) == 0, kept);
    }
    EXPECT_EQ(live, expected.size());
    const HeapSnapshot::Totals totals = snapshot.totals();
    EXPECT_EQ(totals.liveObjects, expected.size());
    EXPECT_EQ(totals.liveBytes, liveBytes);
    EXPECT_EQ(totals.cachedObjects, seen.size() - expected.size());
    EXPECT_EQ(snapshot.allCaches.remoteObjects, 5U);
    EXPECT_GE(snapshot.cacheCount, 2U);
    EXPECT_GE(snapshot.allCaches.refills, 1U);
    for (const auto& [object, kept] : expected) {
        heap.free(object);
    }
    heap.flush();
}

/// Threads that go on meanwhile change what is kept, but never what the heap is.
TEST(OwnerCacheHeapWalk, WorksWhileThreadsAllocate) {
    struct Name {};
    typename Stack<Name>::CachedSmall heap;
    std::atomic<bool> stop{false};
    std::atomic<int> begun{0};
    std::vector<std::thread> threads;
    for (std::size_t seed = 0; seed < 3; ++seed) {
        threads.emplace_back([&, seed] {
            std::vector<void*> mine;
            for (std::size_t i = seed; !stop; i += 7) {
                mine.push_back(heap.malloc(16 + i % 700));
                begun += mine.size() == 150 && i < 7 * 150 + 3 ? 1 : 0;
                if (mine.size() > 200) {
                    for (void* const object : mine) {
                        heap.free(object);
                    }
                    mine.clear();
                }
            }
            for (void* const object : mine) {
                heap.free(object);
            }
        });
    }
    while (begun != 3) {
        std::this_thread::yield();
    }
    std::size_t seen = 0;
    for (int i = 0; i < 200; ++i) {
        const auto count = [&seen](const LiveObject& object) {
            EXPECT_GT(object.size, 0U);
            ++seen;
        };
        heap.beforeFork();
        heap.walk(ObjectVisitor(count));
        HeapSnapshot snapshot;
        heap.inspect(snapshot);
        heap.afterForkInParent();
        EXPECT_LE(snapshot.cacheCount, 4U);
    }
    stop = true;
    for (std::thread& thread : threads) {
        thread.join();
    }
    heap.flush();
    EXPECT_GT(seen, 0U);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The other heaps that threads share, in every order of the threads' steps. They are caches by
// thread, whose slots are inherited with their waiting objects, and arenas of which a thread takes
// one that is free.
#include "heap_scenario.hpp"

#include <heapwright/layers/carve/coalesce_heap.hpp>
#include <heapwright/layers/object/coalesceable_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/source/reserve_heap.hpp>
#include <heapwright/layers/thread/arena_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/layers/thread/pho_thread_heap.hpp>
#include <heapwright/layers/thread/thread_cache_heap.hpp>
#include <heapwright/sizeclass/exact.hpp>
#include <heapwright/structure/thread/arena_policy.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace heapwright::testing::model {
namespace {

void expectRight(const Exploration& found) {
    EXPECT_TRUE(found.complete && found.failure.empty()) << toText(found);
    EXPECT_GT(found.runs, 1U);
    ::testing::Test::RecordProperty("runs", static_cast<int>(found.runs));
    ::testing::Test::RecordProperty("steps", static_cast<int>(found.steps));
}

/// Two threads, or three, free what the maker has taken, and take anew. When the heap is gone all
/// its memory must be back.
template <class H, std::size_t Threads>
class Sharing : public HeapScenario<H> {
public:
    Sharing() {
        Ledger::begin();
        for (void*& object : objects_) {
            object = this->take(size);
        }
        giveThreadSlotBack(); // the first thread inherits
    }
    [[nodiscard]] std::size_t threads() const override { return Threads; }
    void thread(std::size_t index) override {
        void*& mine = objects_.at(index);
        this->give(std::exchange(mine, nullptr));
        mine = this->take(size);
    }
    void atEnd() override {
        for (void* const object : objects_) {
            this->give(object);
        }
        this->endHeap();
        require(Ledger::the().live.empty(), "memory was lost");
    }

private:
    static constexpr std::size_t size = 40;
    std::array<void*, Threads> objects_{};
};

using Locked = LockedHeap<FutexLock, SizeHeap<CountingHeapAt<8>>>;
template <std::size_t Slots>
using Cached = ThreadCacheHeap<Exact<4>, 256, Batches<2>, Slots, Locked>;

TEST(CachesModel, NextThreadInheritsCachedObjects) {
    expectRight(explore<Sharing<Cached<3>, 2>>());
}

TEST(CachesModel, AThreadWithoutASlotGoesWithoutACache) {
    expectRight(explore<Sharing<Cached<1>, 2>>());
}

using Arena = LockedHeap<FutexLock, CoalesceHeap<64 * KiB, CoalesceableHeap<ReserveHeap<1 * MiB>>>>;

/// The map of regions makes room for them in the first run, and so does nothing else in others.
template <class S>
void expectRightAfterTheFirst() {
    EXPECT_EQ(replay<S>("").failure, "");
    expectRight(explore<S>());
}

TEST(ArenasModel, FirstFreeArenasAreRaceFree) {
    expectRightAfterTheFirst<Sharing<ArenaHeap<FirstFree<2>, Arena>, 2>>();
}

TEST(ArenasModel, RoundRobinArenasAreRaceFree) {
    expectRightAfterTheFirst<Sharing<ArenaHeap<RoundRobin<2>, Arena>, 2>>();
}

TEST(ArenasModel, ThreadsHaveOneBySlot) {
    expectRightAfterTheFirst<Sharing<ArenaHeap<ByThread<2>, Arena>, 2>>();
}

TEST(ArenasModel, FreeFindsTheHeapFromTheHeader) {
    expectRight(explore<Sharing<PHOThreadHeap<2, Locked>, 2>>());
}

} // namespace
} // namespace heapwright::testing::model

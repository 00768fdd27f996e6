// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How often a thread finds a lock taken. On a machine this depends on its processors and its load.
// Here it depends on the heap alone, because at each step every thread is as likely to continue.
// The figures are the same in every run; they are among the test's properties (--gtest_output=xml),
// for a thousand operations.
#include "heap_scenario.hpp"

#include <heapwright/layers/carve/aligned_block_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/thread/hoard_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/layers/thread/thread_cache_heap.hpp>
#include <heapwright/sizeclass/exact.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <string>

namespace heapwright::testing::model {
namespace {

constexpr std::size_t turns = 50;
constexpr std::size_t runs = 20;

/// Each thread takes an object and gives it back, again and again.
template <class H, std::size_t Threads>
class Alone : public HeapScenario<H> {
public:
    Alone() {
        Ledger::begin();
        giveThreadSlotBack();
    }
    [[nodiscard]] std::size_t threads() const override { return Threads; }
    void thread(std::size_t /*index*/) override {
        for (std::size_t turn = 0; turn < turns; ++turn) {
            this->takeAndGive(40);
        }
    }
};

template <class H, std::size_t Threads>
double failuresPerThousand(const std::string& name) {
    const Contention found = sample<Alone<H, Threads>>(runs, 1);
    EXPECT_EQ(found.failure, "");
    const double failures = 1000.0 * static_cast<double>(found.lockFailures) /
                            static_cast<double>(2 * turns * runs * Threads);
    ::testing::Test::RecordProperty(name + "_" + std::to_string(Threads), std::to_string(failures));
    return failures;
}

using Serial = LockedHeap<FutexLock, SizeHeap<CountingHeapAt<8>>>;
using Cached = ThreadCacheHeap<Exact<4>, 1 * KiB, Batches<4>, 8, Serial>;
using Blocks = AlignedBlockHeap<4 * KiB, 1 * MiB, BufferHeap>;
template <class Choice>
using Hoard = HoardHeap<GeometricSlots<6, 5, 16, 64>, Choice, Emptiness<1, 4, 4>, AnyLines, Blocks>;

TEST(Contention, GrowsWithTheThreadsBehindOneLock) {
    const double two = failuresPerThousand<Serial, 2>("serial");
    const double four = failuresPerThousand<Serial, 4>("serial");
    EXPECT_GT(two, 100.0);
    EXPECT_GT(four, 1.2 * two);
    EXPECT_EQ(two, (failuresPerThousand<Serial, 2>("serial"))) << "it is the same again";
}

TEST(Contention, IsRareIfEachThreadHasItsOwnHeap) {
    EXPECT_LT((failuresPerThousand<Cached, 4>("cached")), 50.0);
    EXPECT_LT((failuresPerThousand<Hoard<OwnHeap<4>>, 4>("hoard_own")), 50.0);
    EXPECT_GT((failuresPerThousand<Hoard<OwnHeap<1>>, 4>("hoard_shared")), 100.0);
}

} // namespace
} // namespace heapwright::testing::model

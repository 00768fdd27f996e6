// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/thread/heap_selector.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <latch>
#include <set>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

/// The result of each of several threads at once.
template <class Choice>
std::vector<std::size_t> toldTo(std::size_t number) {
    std::vector<std::size_t> told(number);
    std::atomic<std::size_t> asked{0};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < number; ++i) {
        threads.emplace_back([&, i] {
            told[i] = Choice::mine();
            EXPECT_EQ(Choice::mine(), told[i]);
            EXPECT_LT(told[i], Choice::count);
            asked.fetch_add(1);
            while (asked.load() != number) {
                std::this_thread::yield();
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    return told;
}

TEST(OwnHeap, GivesEachLiveThreadItsOwn) {
    const std::vector<std::size_t> told = toldTo<OwnHeap<64>>(8);
    EXPECT_EQ(std::set<std::size_t>(told.begin(), told.end()).size(), 8U);
    for (const std::size_t index : told) {
        EXPECT_TRUE(OwnHeap<64>::isExclusive(index));
    }
    EXPECT_FALSE(OwnHeap<64>::isExclusive(0));
}

TEST(OwnHeap, ThreadsBeyondTheLimitShareHeapZero) {
    std::size_t late = 0;
    for (const std::size_t index : toldTo<OwnHeap<2>>(8)) {
        late += index == 0 ? 1U : 0U;
    }
    EXPECT_GE(late, 6U);
}

TEST(OwnHeap, IsInheritedByTheNextThread) {
    std::size_t before = 0;
    std::thread([&] { before = OwnHeap<4096>::mine(); }).join();
    std::size_t after = 0;
    std::thread([&] { after = OwnHeap<4096>::mine(); }).join();
    EXPECT_EQ(before, after);
}

TEST(EarnedHeap, GivesTheFirstThreadsTheirOwnAtOnce) {
    const std::vector<std::size_t> told = toldTo<EarnedHeap<64, 3, 2, 2>>(8);
    const std::set<std::size_t> different(told.begin(), told.end());
    EXPECT_TRUE(different.contains(0));
    for (const std::size_t index : different) {
        EXPECT_LE(index, 3U);
    }
}

TEST(EarnedHeap, IsSharedUntilEnoughRequestsAreNoted) {
    using Earned = EarnedHeap<64, 0, 3, 3>;
    std::thread([] {
        EXPECT_FALSE(Earned::earns());
        EXPECT_FALSE(Earned::earns());
        EXPECT_EQ(Earned::mine(), 0U);
        EXPECT_TRUE(Earned::earns());
        EXPECT_EQ(Earned::mine(), OwnHeap<64>::mine());
        EXPECT_TRUE(Earned::earns());
    }).join();
    std::thread([] { EXPECT_EQ(Earned::mine(), 0U) << "each thread earns its own"; }).join();
}

TEST(EarnedHeap, NeedsMoreRequestsBeyondTwiceTheNumberOfProcessors) {
    using Earned = EarnedHeap<4095, 0, 2, 5>;
    const std::size_t few = 2 * platform::processors();
    std::vector<std::size_t> needed(few + 8); // by slot
    std::vector<std::thread> threads;
    std::latch all(static_cast<std::ptrdiff_t>(needed.size()));
    for (std::size_t each = 0; each < needed.size(); ++each) {
        threads.emplace_back([&] {
            const std::size_t slot = threadSlot();
            all.arrive_and_wait();
            std::size_t requests = 1;
            for (; !Earned::earns(); ++requests) {
            }
            if (slot < needed.size()) {
                needed[slot] = requests;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::size_t seen = 0;
    for (std::size_t slot = 0; slot < needed.size(); ++slot) {
        if (needed[slot] != 0) { // other threads of the test have the others
            EXPECT_EQ(needed[slot], slot < few ? 2U : 5U) << slot;
            ++seen;
        }
    }
    EXPECT_GT(seen, few);
}

TEST(EarnedHeap, IsNotEarnedWithoutASlot) {
    std::thread([] {
        giveThreadSlotBack();
        EXPECT_FALSE((EarnedHeap<64, 4, 1, 1>::earns()));
        EXPECT_EQ((EarnedHeap<64, 4, 1, 1>::mine()), 0U);
    }).join();
}

TEST(PerProcessor, HasTwoHeapsForEach) {
    const std::vector<std::size_t> told = toldTo<PerProcessor<4096>>(4 * platform::processors());
    EXPECT_EQ(std::set<std::size_t>(told.begin(), told.end()).size(), 2 * platform::processors());
    for (const std::size_t index : toldTo<PerProcessor<1>>(3)) {
        EXPECT_EQ(index, 0U);
    }
}

static_assert(HeapSelector<ByThread<4>> && HeapSelector<OwnHeap<4>> &&
              HeapSelector<PerProcessor<4>>);

TEST(HeapSelector, OnlyOwnHeapIsExclusiveAndForkAware) {
    EXPECT_TRUE(ExclusiveHeapSelector<OwnHeap<8>>);
    EXPECT_TRUE(ForkAwareHeapSelector<OwnHeap<8>>);
    EXPECT_FALSE(ExclusiveHeapSelector<PerProcessor<8>>);
    EXPECT_FALSE(ForkAwareHeapSelector<PerProcessor<8>>);
}

} // namespace
} // namespace heapwright::testing

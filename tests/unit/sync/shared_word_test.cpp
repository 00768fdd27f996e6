// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sync/shared_word.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

constinit SharedWord<std::uint32_t> atCompileTime{7};

template <class T>
concept Adds =
    requires(SharedWord<T> shared, T value) { shared.fetchAdd(value, std::memory_order_relaxed); };

TEST(SharedWord, IsThereBeforeAnyConstructor) {
    EXPECT_EQ(atCompileTime.load(std::memory_order_relaxed), 7U);
    EXPECT_EQ(SharedWord<void*>().load(std::memory_order_relaxed), nullptr);
    EXPECT_EQ(sizeof(SharedWord<std::uint32_t>), sizeof(std::uint32_t));
}

TEST(SharedWord, BehavesAsAnAtomic) {
    SharedWord<std::uint32_t> word(6);
    EXPECT_EQ(word.fetchAdd(4, std::memory_order_relaxed), 6U);
    EXPECT_EQ(word.fetchSub(2, std::memory_order_relaxed), 10U);
    EXPECT_EQ(word.fetchOr(1, std::memory_order_relaxed), 8U);
    EXPECT_EQ(word.fetchAnd(3, std::memory_order_relaxed), 9U);
    EXPECT_EQ(word.exchange(20, std::memory_order_acq_rel), 1U);
    std::uint32_t expected = 21;
    EXPECT_FALSE(
        word.compareExchange(expected, 5, std::memory_order_acq_rel, std::memory_order_acquire));
    EXPECT_EQ(expected, 20U);
    EXPECT_TRUE(
        word.compareExchange(expected, 5, std::memory_order_acq_rel, std::memory_order_acquire));
    word.store(word.load(std::memory_order_acquire) + 1, std::memory_order_release);
    EXPECT_EQ(word.load(std::memory_order_relaxed), 6U);
}

TEST(SharedWord, AddsNumbersOnly) {
    EXPECT_TRUE(Adds<std::uint64_t>);
    EXPECT_FALSE(Adds<bool>);
    EXPECT_FALSE(Adds<void*>);
}

TEST(SharedWord, LosesNoUpdate) {
    SharedWord<std::uint64_t> sum;
    std::vector<std::thread> threads;
    for (int id = 0; id < 4; ++id) {
        threads.emplace_back([&sum] {
            for (int i = 0; i < 20'000; ++i) {
                sum.fetchAdd(1, std::memory_order_relaxed);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(sum.load(std::memory_order_relaxed), 80'000U);
}

TEST(SharedWord, LosesNoUpdateOfAnAdditionNearHandlers) {
    SharedWord<std::uint64_t> sum(5);
    EXPECT_EQ(sum.fetchAddNearHandlers(1), 5U); // perhaps as the only thread
    std::vector<std::thread> threads;
    for (int id = 0; id < 4; ++id) {
        threads.emplace_back([&sum] {
            for (int i = 0; i < 20'000; ++i) {
                sum.fetchAddNearHandlers(1);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(sum.load(std::memory_order_relaxed), 80'006U);
}

} // namespace
} // namespace heapwright::testing

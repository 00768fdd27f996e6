// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Objects pass between threads through slots that are reused. No thread gets the object of another
// use, for any schedule. The order semaphore lets threads through in the order of its posts.
#include "replayer/run/object_exchange.hpp"
#include "replayer/run/order_semaphore.hpp"

#include <array>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace heapwright::replayer {
namespace {

void* object(std::uint64_t number) {
    return reinterpret_cast<void*>((number + 1) << 4U); // NOLINT
}

TEST(ObjectExchange, EachTakerGetsItsObject) {
    constexpr std::uint64_t uses = 100'000;
    constexpr std::uint32_t slots = 3;
    std::array<ObjectExchange::Slot, slots> table{};
    ObjectExchange shared(table.data());
    const auto holdOf = [](std::uint64_t use) {
        return SlotUse{static_cast<std::uint32_t>(use % slots),
                       static_cast<std::uint16_t>(use / slots % generations), true};
    };
    std::array<std::uint64_t, 2> wrong{};
    std::vector<std::thread> threads;
    for (std::uint64_t part = 0; part < 2; ++part) {
        threads.emplace_back([&, part] { // each gives every other one
            Waits waits;
            for (std::uint64_t use = part; use < uses; use += 2) {
                shared.give(holdOf(use), object(use), waits);
            }
        });
        threads.emplace_back([&, part] {
            Waits waits;
            for (std::uint64_t use = part; use < uses; use += 2) {
                wrong[part] += shared.take(holdOf(use), waits) != object(use) ? 1U : 0U;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong[0] + wrong[1], 0U);
}

TEST(ObjectExchange, NullIsAnObjectToo) {
    std::array<ObjectExchange::Slot, 1> table{};
    ObjectExchange shared(table.data());
    Waits waits;
    shared.give(SlotUse{0, 0, true}, nullptr, waits);
    EXPECT_EQ(shared.take(SlotUse{0, 0, true}, waits), nullptr);
    shared.give(SlotUse{0, 1, true}, object(9), waits);
    EXPECT_EQ(shared.take(SlotUse{0, 1, true}, waits), object(9));
    EXPECT_EQ(waits.count, 0U);
}

TEST(ObjectExchange, ATakerThatComesFirstWaitsAndIsCounted) {
    std::array<ObjectExchange::Slot, 1> table{};
    ObjectExchange shared(table.data());
    Waits waits;
    void* taken = nullptr;
    std::thread taker([&] { taken = shared.take(SlotUse{0, 0, true}, waits); });
    while ((table[0].load() >> 63U) == 0) { // until it sleeps
        std::this_thread::yield();
    }
    Waits own;
    shared.give(SlotUse{0, 0, true}, object(1), own);
    taker.join();
    EXPECT_EQ(taken, object(1));
    EXPECT_EQ(waits.count, 1U);
    EXPECT_EQ(own.count, 0U);
}

TEST(OrderSemaphore, ThreadsGoRoundInOrder) {
    constexpr std::size_t many = 3;
    constexpr std::size_t rounds = 5'000;
    std::array<OrderSemaphore, many> semaphores{};
    std::vector<std::size_t> order;
    std::vector<std::thread> threads;
    for (std::size_t at = 0; at < many; ++at) {
        threads.emplace_back([&, at] {
            Waits waits;
            for (std::size_t round = 0; round < rounds; ++round) {
                semaphores[at].wait(waits);
                order.push_back(at);
                semaphores[(at + 1) % many].post();
            }
        });
    }
    semaphores[0].post();
    for (std::thread& thread : threads) {
        thread.join();
    }
    ASSERT_EQ(order.size(), many * rounds);
    for (std::size_t at = 0; at < order.size(); ++at) {
        ASSERT_EQ(order[at], at % many);
    }
}

TEST(OrderSemaphore, CanBePostedBeforeTheWait) {
    OrderSemaphore semaphore;
    semaphore.post();
    semaphore.post();
    Waits waits;
    semaphore.wait(waits);
    semaphore.wait(waits);
    EXPECT_EQ(waits.count, 0U);
}

} // namespace
} // namespace heapwright::replayer

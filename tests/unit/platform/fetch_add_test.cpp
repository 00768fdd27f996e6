// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/fetch_add.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <ctime>
#include <unistd.h>

namespace heapwright::testing {
namespace {

std::atomic<std::uint64_t> word{0};
volatile std::sig_atomic_t handled = 0;

TEST(FetchAddAlone, ReturnsTheValueBefore) {
    std::atomic<std::uint64_t> sum{40};
    EXPECT_EQ(platform::fetchAddAlone(sum, std::uint64_t{2}), 40U);
    EXPECT_EQ(platform::fetchAddAlone(sum, ~std::uint64_t{0}), 42U);
    EXPECT_EQ(sum.load(), 41U);
}

TEST(FetchAddAlone, LosesNoAdditionOfASignalHandler) {
    struct sigaction action = {};
    struct sigaction before = {};
    action.sa_handler = [](int) {
        platform::fetchAddAlone(word, std::uint64_t{1} << 32U);
        handled = handled + 1;
    };
    ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
    sigevent event = {};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGALRM;
    timer_t timer = {};
    ASSERT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    const itimerspec often = {{0, 20'000}, {0, 20'000}};
    ASSERT_EQ(timer_settime(timer, 0, &often, nullptr), 0);
    std::uint64_t added = 0;
    while (handled < 200) {
        platform::fetchAddAlone(word, std::uint64_t{1});
        if (++added % 65'536 == 0) {
            usleep(1); // ThreadSanitizer runs handlers in calls of the C library only
        }
    }
    timer_delete(timer);
    sigaction(SIGALRM, &before, nullptr);
    EXPECT_EQ(word.load() >> 32U, static_cast<std::uint64_t>(handled));
    EXPECT_EQ(word.load() & 0xFFFFFFFFU, added & 0xFFFFFFFFU);
}

} // namespace
} // namespace heapwright::testing

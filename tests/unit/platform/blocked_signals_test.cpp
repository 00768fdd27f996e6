// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/blocked_signals.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

volatile std::sig_atomic_t handled = 0;

TEST(BlockedSignals, DelaysAHandlerToTheEndOfTheScope) {
    struct sigaction action = {};
    struct sigaction before = {};
    action.sa_handler = [](int) { handled = handled + 1; };
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
    handled = 0;
    {
        const platform::BlockedSignals blocked;
        ASSERT_EQ(::pthread_kill(::pthread_self(), SIGUSR1), 0);
        EXPECT_EQ(handled, 0);
    }
    EXPECT_EQ(handled, 1);
    ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
}

TEST(BlockedSignals, KeepsTheSignalsThatWereBlockedBefore) {
    ::sigset_t one;
    ::sigset_t before;
    ::sigset_t after;
    ::sigemptyset(&one);
    ::sigaddset(&one, SIGUSR2);
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &one, &before), 0);
    { const platform::BlockedSignals blocked; }
    ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &before, &after), 0);
    EXPECT_EQ(::sigismember(&after, SIGUSR2), 1);
    EXPECT_EQ(::sigismember(&after, SIGUSR1), ::sigismember(&before, SIGUSR1));
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/thread_exit.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <pthread.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace heapwright::testing {
namespace {

thread_local std::vector<int>* endings = nullptr; ///< what ended in this thread, in order

constexpr int ours = 100;
void ended() noexcept {
    if (endings != nullptr) {
        endings->push_back(ours);
    }
}
using AtExit = platform::AtThreadExit<ended>;

TEST(ThreadExit, RunsOnceWhenTheThreadEnds) {
    std::vector<int> seen;
    std::thread([&] {
        endings = &seen;
        ASSERT_TRUE(AtExit::arrange());
        ASSERT_TRUE(AtExit::arrange());
        EXPECT_TRUE(seen.empty());
    }).join();
    EXPECT_EQ(seen, std::vector<int>{ours});
    std::thread([&] { endings = &seen; }).join();
    EXPECT_EQ(seen.size(), 1U) << "who has not asked is not told";
}

/// All but those that no thread may block, and, as in the C library, the one for changed users.
TEST(ThreadExit, RefusesAHookAfterTheDestructors) {
    std::thread([] {
        EXPECT_FALSE(platform::pastItsDestructors());
        ::sigset_t all;
        ::sigfillset(&all);
        ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &all, nullptr), 0);
        EXPECT_FALSE(platform::pastItsDestructors()) << "so much a program may do";
        EXPECT_TRUE(AtExit::arrange());
        // As in the C library: all but the signal by which threads learn of a change of users.
        constexpr std::uint64_t last = ~(std::uint64_t{1} << 32U);
        ASSERT_EQ(::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &last, nullptr, sizeof last), 0);
        errno = EXDEV;
        EXPECT_TRUE(platform::pastItsDestructors());
        EXPECT_FALSE(AtExit::arrange());
        EXPECT_EQ(errno, EXDEV);
    }).join();
}

TEST(ThreadExit, ComesInTheLastRoundOfTheKeysDestructors) {
    static pthread_key_t stubborn;
    ASSERT_EQ(::pthread_key_create(&stubborn,
                                   [](void* value) {
                                       endings->push_back(static_cast<int>(endings->size()));
                                       if (endings->size() < platform::exitRound) {
                                           ::pthread_setspecific(stubborn, value);
                                       }
                                   }),
              0);
    std::vector<int> seen;
    std::thread([&] {
        endings = &seen;
        ASSERT_TRUE(AtExit::arrange());
        ::pthread_setspecific(stubborn, &seen);
    }).join();
    ::pthread_key_delete(stubborn);
    ASSERT_EQ(seen.size(), 1U + platform::exitRound);
    EXPECT_GE(std::find(seen.begin(), seen.end(), ours) - seen.begin(),
              static_cast<std::ptrdiff_t>(platform::exitRound) - 1);
}

TEST(ThreadExit, ComesAfterThreadLocalVariablesAreGone) {
    struct Last {
        ~Last() { endings->push_back(1); }
    };
    std::vector<int> seen;
    std::thread([&] {
        endings = &seen;
        ASSERT_TRUE(AtExit::arrange());
        static thread_local Last last;
        static_cast<void>(&last);
    }).join();
    EXPECT_EQ(seen, (std::vector<int>{1, ours}));
}

TEST(ThreadExit, AWithdrawnRegistrationIsOver) {
    using Withdrawn = platform::AtThreadExit<ended, 1>;
    std::vector<int> seen;
    for (const bool withdrawn : {true, false}) {
        std::thread([&] {
            endings = &seen;
            ASSERT_TRUE(Withdrawn::arrange());
            if (withdrawn) {
                Withdrawn::withdraw();
            }
        }).join();
        EXPECT_EQ(seen.empty(), withdrawn);
    }
}

TEST(ThreadExit, AThreadIsOverWhenItHasEnded) {
    EXPECT_FALSE(platform::systemThreadIsOver(platform::systemThread()));
    std::uint32_t other = 0;
    std::thread([&other] { other = platform::systemThread(); }).join();
    EXPECT_NE(other, platform::systemThread());
    EXPECT_NE(other, 0U);
    errno = EINTR;
    EXPECT_TRUE(platform::systemThreadIsOver(other));
    EXPECT_EQ(errno, EINTR);
}

} // namespace
} // namespace heapwright::testing

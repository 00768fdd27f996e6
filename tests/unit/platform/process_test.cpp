// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/process.hpp>
#include <heapwright/platform/shared_pages.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <new>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace heapwright::testing {
namespace {

std::uint32_t asked() {
    return static_cast<std::uint32_t>(::syscall(SYS_gettid));
}

/// The exit status of a child that runs `body`.
template <class Body>
int statusOfChild(Body body) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(30);
        ::_exit(body() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

TEST(ThreadId, IsTheSystemsNumberOfTheThread) {
    errno = EINTR;
    EXPECT_EQ(platform::threadId(), asked());
    EXPECT_EQ(platform::threadId(), asked()) << "and so it is the second time";
    EXPECT_EQ(errno, EINTR);
    std::thread([] { EXPECT_EQ(platform::threadId(), asked()); }).join();
}

TEST(ThreadId, IsAnotherAfterAFork) {
    const std::uint32_t mine = platform::threadId();
    EXPECT_EQ(statusOfChild([mine] {
                  // A thread of the child asks first: the forked one must not take its own for
                  // known.
                  bool right = true;
                  std::thread([&] { right = platform::threadId() == asked(); }).join();
                  return right && platform::threadId() == asked() && platform::threadId() != mine;
              }),
              0);
    EXPECT_EQ(platform::threadId(), mine);
}

TEST(ThreadId, AnEndedThreadIsGoneAndOthersAreNot) {
    errno = EINTR;
    EXPECT_FALSE(platform::threadIsGone(platform::threadId()));
    std::uint32_t ended = 0;
    std::thread([&] { ended = platform::threadId(); }).join();
    for (int i = 0; i < 1000 && !platform::threadIsGone(ended); ++i) {
        ::usleep(1000); // joined is a little before gone
    }
    EXPECT_TRUE(platform::threadIsGone(ended));
    EXPECT_EQ(errno, EINTR);
}

TEST(ThreadId, ZombieProcessCountsAsGone) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::pause();
    }
    EXPECT_FALSE(platform::threadIsGone(static_cast<std::uint32_t>(child)));
    ::kill(child, SIGKILL);
    siginfo_t ended = {};
    ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
    EXPECT_TRUE(platform::threadIsGone(static_cast<std::uint32_t>(child)));
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(platform::threadIsGone(static_cast<std::uint32_t>(child)));
}

TEST(SharedFutex, WakesASleeperInAnotherProcess) {
    void* const page = platform::mapSharedPages(platform::pageSize());
    ASSERT_NE(page, nullptr);
    auto* const word = ::new (page) std::atomic<std::uint32_t>(0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(30);
        while (word->load() == 0) {
            platform::sharedFutexWait(*word, 0, 20'000);
        }
        ::_exit(0);
    }
    ::usleep(20'000); // until it sleeps, most likely
    word->store(1);
    platform::sharedFutexWakeOne(*word);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    platform::unmapPages(page, platform::pageSize());
}

TEST(SharedFutex, ReturnsWhenTheTimeIsOver) {
    std::atomic<std::uint32_t> word{0};
    errno = EINTR;
    platform::sharedFutexWait(word, 0, 1);
    EXPECT_EQ(errno, EINTR);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/build.hpp>
#include <heapwright/platform/helper_thread.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <thread>

namespace heapwright::testing {
namespace {

struct Seen {
    std::string name;
    bool usr1Blocked = false;
    bool first = true;
};
Seen seen;
std::atomic<bool> told{false};

void* tell(void* /*nothing*/) {
    // The name is given after the start.
    std::array<char, 16> name{};
    while (::pthread_getname_np(::pthread_self(), name.data(), name.size()) == 0 &&
           std::string(name.data()) != "helping") {
        std::this_thread::yield();
    }
    ::sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    seen = {name.data(), ::sigismember(&mask, SIGUSR1) == 1, platform::isFirstThread()};
    told = true;
    told.notify_all();
    return nullptr;
}

TEST(HelperThread, RunsUnderItsNameAndTakesNoSignals) {
    errno = EXDEV;
    ASSERT_TRUE(platform::startHelper(&tell, "helping"));
    EXPECT_EQ(errno, EXDEV);
    told.wait(false);
    EXPECT_EQ(seen.name, "helping");
    EXPECT_TRUE(seen.usr1Blocked);
    EXPECT_FALSE(seen.first);
    ::sigset_t mine;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mine);
    EXPECT_EQ(::sigismember(&mine, SIGUSR1), 0) << "as it was";
}

TEST(HelperThread, CountsTheThreadsOfTheProcess) {
    const std::size_t before = platform::threadsOfProcess();
    std::atomic<int> stage{0};
    std::thread other([&stage] {
        stage = 1;
        stage.notify_all();
        stage.wait(1);
    });
    stage.wait(0);
    EXPECT_EQ(platform::threadsOfProcess(), before + 1);
    EXPECT_FALSE(platform::aloneInProcess());
    stage = 2;
    stage.notify_all();
    other.join();
}

TEST(HelperThread, KnowsTheFirstThread) {
    EXPECT_TRUE(platform::isFirstThread());
}

/// In a process of its own: its first thread ends, and then the other is alone.
TEST(HelperThread, KnowsWhenItIsAlone) {
    if constexpr (platform::watchesThreads) {
        GTEST_SKIP() << "ThreadSanitizer has a thread of its own in each process";
    }
    const ::pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const auto wait = [](void*) -> void* {
            for (int i = 0; i < 10'000 && !platform::aloneInProcess(); ++i) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            std::_Exit(platform::aloneInProcess() ? 42 : 1);
        };
        if (platform::aloneInProcess() || !platform::startHelper(wait, "waiting")) {
            std::_Exit(2);
        }
        ::syscall(SYS_exit, 0); // this thread alone, past the code that would catch what unwinds it
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 42);
}

} // namespace
} // namespace heapwright::testing

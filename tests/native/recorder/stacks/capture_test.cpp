// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Chains of calls against those that the language's own unwinder finds, frame by frame.
#include "fake_host.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <alloca.h>
#include <array>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <pthread.h>
#include <stdexcept>
#include <thread>
#include <ucontext.h>
#include <unwind.h>

namespace heapwright::recorder::stacks::test {
namespace {

using Addresses = std::vector<std::uint64_t>;

_Unwind_Reason_Code note(_Unwind_Context* context, void* data) {
    int before = 0;
    const auto address = static_cast<std::uint64_t>(_Unwind_GetIPInfo(context, &before));
    // A frame that was interrupted is reported as if it had called.
    static_cast<Addresses*>(data)->push_back(address + (before != 0 ? 1 : 0));
    return _URC_NO_REASON;
}

struct Both {
    StackId id = noStack;
    Addresses ours;
    Addresses theirs;
};

/// Stands for malloc: the innermost frame is that of its caller.
[[gnu::noinline]] Both takeBoth() {
    Both both;
    both.id = captureHere();
    both.ours = FakeHost::chain(both.id);
    _Unwind_Backtrace(&note, &both.theirs);
    both.theirs.erase(both.theirs.begin()); // its own caller is within us
    while (!both.theirs.empty() && both.theirs.back() == 0) {
        both.theirs.pop_back();
    }
    return both;
}

[[gnu::noinline]] StackId takeOnly() {
    const StackId id = captureHere();
    asm volatile("" ::: "memory");
    return id;
}

class Capture : public testing::Test {
protected:
    static void SetUpTestSuite() {
        static const bool begun = begin(FakeHost::host());
        ASSERT_TRUE(begun);
    }
};

void expectSame(const Both& both) {
    EXPECT_NE(both.id, noStack);
    ASSERT_GT(both.theirs.size(), 2U);
    EXPECT_EQ(both.ours, both.theirs);
}

[[gnu::noinline]] Both inDepth(int depth) {
    Both both = depth == 0 ? takeBoth() : inDepth(depth - 1);
    asm volatile("" ::: "memory");
    return both;
}

[[gnu::noinline]] Both withRoom(std::size_t bytes) {
    auto* const room = static_cast<volatile char*>(alloca(bytes));
    room[0] = 1;
    Both both = takeBoth();
    asm volatile("" ::"r"(room) : "memory");
    return both;
}

[[gnu::noinline]] Both realigned() {
    alignas(64) volatile char place[64] = {};
    Both both = takeBoth();
    asm volatile("" ::"r"(place) : "memory");
    return both;
}

[[gnu::noinline]] Both realignedWithRoom(std::size_t bytes) {
    alignas(64) volatile char place[64] = {};
    auto* const room = static_cast<volatile char*>(alloca(bytes));
    room[0] = 1;
    Both both = takeBoth();
    asm volatile("" ::"r"(place), "r"(room) : "memory");
    return both;
}

TEST_F(Capture, AgreesWithTheUnwinderOfTheLanguage) {
    expectSame(takeBoth());
    for (const int depth : {0, 1, 5, 50, 3, 49, 51, 0, 200}) {
        expectSame(inDepth(depth));
    }
}

TEST_F(Capture, FollowsFramesOfVariableSize) {
    for (const std::size_t bytes : {16U, 4096U, 40U, 100000U, 16U}) {
        expectSame(withRoom(bytes));
        expectSame(realignedWithRoom(bytes));
    }
    expectSame(realigned());
}

TEST_F(Capture, TheSameChainIsTheSameNumber) {
    std::array<StackId, 3> ids{};
    for (StackId& id : ids) {
        id = takeOnly();
    }
    EXPECT_EQ(ids[0], ids[1]);
    EXPECT_EQ(ids[1], ids[2]);
    EXPECT_NE(takeOnly(), ids[0]);
}

TEST_F(Capture, ComparatorsThroughTheCLibrary) {
    static Both both;
    std::array<int, 5> numbers = {3, 1, 2, 5, 4};
    std::qsort(numbers.data(), numbers.size(), sizeof numbers[0], [](const void*, const void*) {
        both = takeBoth();
        return 0;
    });
    expectSame(both);
}

TEST_F(Capture, AfterExceptionsHaveGoneThroughTheFrames) {
    for (int i = 0; i < 3; ++i) {
        try {
            std::function<void(int)> fall = [&](int depth) {
                takeOnly();
                if (depth == 0) {
                    throw std::runtime_error("down");
                }
                fall(depth - 1);
            };
            fall(10 + i);
        } catch (const std::runtime_error&) {
            expectSame(takeBoth());
        }
    }
}

TEST_F(Capture, EachThreadItsOwn) {
    std::vector<std::thread> threads;
    std::array<Both, 8> found;
    for (std::size_t i = 0; i < found.size(); ++i) {
        threads.emplace_back([&found, i] {
            for (int depth = 0; depth < 60; ++depth) {
                found[i] = inDepth(depth % 20 + static_cast<int>(i));
                if (found[i].ours != found[i].theirs) {
                    break;
                }
            }
            endThread();
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const Both& both : found) {
        expectSame(both);
    }
}

Both& inHandler() {
    static Both both;
    return both;
}

void handle(int) {
    inHandler() = takeBoth();
}

[[gnu::noinline]] void interrupt(int flags) {
    struct sigaction action {};
    struct sigaction before {};
    action.sa_handler = &handle;
    action.sa_flags = flags;
    ::sigaction(SIGUSR1, &action, &before);
    inHandler() = {};
    ::raise(SIGUSR1);
    ::sigaction(SIGUSR1, &before, nullptr);
    expectSame(inHandler());
}

TEST_F(Capture, OutOfASignalHandler) {
    interrupt(0);
    interrupt(0);
    takeOnly();
}

TEST_F(Capture, OutOfASignalHandlerOnAnotherStack) {
    std::vector<char> room(std::size_t{64} << 10U);
    stack_t other{};
    other.ss_sp = room.data();
    other.ss_size = room.size();
    stack_t before{};
    ASSERT_EQ(::sigaltstack(&other, &before), 0);
    interrupt(SA_ONSTACK);
    takeOnly();
    interrupt(SA_ONSTACK);
    ::sigaltstack(&before, nullptr);
    expectSame(takeBoth());
}

ucontext_t& home() {
    static ucontext_t context;
    return context;
}

/// In a function of its own: what calls getcontext may keep no variables in registers.
[[gnu::noinline]] void takeOnACoroutinesStack() {
    const std::size_t bytes = std::size_t{64} << 10U;
    void* const stack =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ucontext_t other{};
    ASSERT_EQ(::getcontext(&other), 0);
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = bytes;
    other.uc_link = &home();
    inHandler() = {};
    ::makecontext(&other, [] { inHandler() = inDepth(5); }, 0);
    ASSERT_EQ(::swapcontext(&home(), &other), 0);
    ::munmap(stack, bytes);
}

TEST_F(Capture, OnACoroutinesStackItEndsThere) {
    for (int i = 0; i < 3; ++i) {
        takeOnACoroutinesStack();
        expectSame(inHandler());
        expectSame(takeBoth());
    }
}

[[gnu::noinline]] StackId deep(int depth) {
    const StackId id = depth == 0 ? takeOnly() : deep(depth - 1);
    asm volatile("" ::: "memory");
    return id;
}

TEST_F(Capture, AChainThatIsTooLongKeepsItsInnerEnd) {
    const StackId id = deep(5000);
    const Addresses chain = FakeHost::chain(id);
    ASSERT_EQ(chain.size(), 65U);
    EXPECT_EQ(chain.back(), trace::cutAddress);
    EXPECT_EQ(deep(7000), id);
    expectSame(takeBoth());
}

TEST_F(Capture, ModulesAreWrittenWithTheirPaths) {
    takeOnly();
    const auto modules = FakeHost::modules();
    EXPECT_TRUE(std::any_of(modules.begin(), modules.end(), [](const auto& module) {
        return module.second.find("libc.so") != std::string::npos;
    }));
    EXPECT_TRUE(std::any_of(modules.begin(), modules.end(), [](const auto& module) {
        return module.second.find("libgtest") == std::string::npos && !module.second.empty();
    }));
}

} // namespace
} // namespace heapwright::recorder::stacks::test

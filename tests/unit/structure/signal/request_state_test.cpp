// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/address.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/structure/signal/request_state.hpp>

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <new>
#include <sys/mman.h>
#include <sys/time.h>
#include <thread>

namespace heapwright::testing {
namespace {

TEST(SlowPath, StaysEnteredUntilTheOuterScopeEnds) {
    EXPECT_FALSE(SlowPath::entered());
    {
        const SlowPath::Entry outer;
        EXPECT_TRUE(SlowPath::entered());
        {
            const SlowPath::Entry inner;
            EXPECT_TRUE(SlowPath::entered());
        }
        EXPECT_TRUE(SlowPath::entered());
    }
    EXPECT_FALSE(SlowPath::entered());
}

TEST(SlowPath, IsMarkedUntilItIsUnmarked) {
    EXPECT_FALSE(SlowPath::mark(true));
    EXPECT_TRUE(SlowPath::mark(true));
    EXPECT_TRUE(SlowPath::mark(false));
    EXPECT_FALSE(SlowPath::entered());
}

TEST(SlowPath, IsPerThread) {
    const SlowPath::Entry entry;
    bool other = true;
    std::thread([&other] { other = SlowPath::entered(); }).join();
    EXPECT_FALSE(other);
}

/// Several words, so that copying them can be interrupted.
struct Words {
    std::array<std::uint64_t, 40> word{};
    [[nodiscard]] bool isEmpty() const { return word == std::array<std::uint64_t, 40>{}; }
    static Words counted(std::uint64_t from) {
        Words words;
        for (std::uint64_t& each : words.word) {
            each = from++;
        }
        return words;
    }
};
using Suspended = SuspendedState<Words>;

constexpr StackPart outer = StackPart::below(0x7000'0000, 0);
constexpr StackPart inner = StackPart::below(0x6FFF'0000, 0);

TEST(SuspendedState, IsEmptyInAHandlerAndRestoredAfterIt) {
    Words state = Words::counted(1);
    const auto before = Suspended::suspend(state, outer);
    EXPECT_TRUE(Suspended::isSuspended() && state.isEmpty());
    EXPECT_TRUE(Suspended::checkSuspended(outer.top - 100));
    Suspended::resume(before);
    EXPECT_FALSE(Suspended::isSuspended());
    EXPECT_EQ(state.word, Words::counted(1).word);
}

TEST(SuspendedState, StaysHiddenWhenAnInnerHandlerReturns) {
    Words state = Words::counted(7);
    const auto first = Suspended::suspend(state, outer);
    const auto second = Suspended::suspend(state, inner);
    Suspended::resume(second);
    EXPECT_TRUE(state.isEmpty() && Suspended::checkSuspended(outer.top - 100));
    Suspended::resume(first);
    EXPECT_EQ(state.word, Words::counted(7).word);
}

/// A signal while the state is copied: the copy reads a page without access.
struct Interrupted {
    static inline Words* state = nullptr;
    static inline bool wasSuspended = false;
    static inline bool wasInHandler = false;

    static void handle(int /*signal*/) {
        ::mprotect(state, platform::pageSize(), PROT_READ | PROT_WRITE);
        const Address here = addressOf(__builtin_frame_address(0));
        wasSuspended = Suspended::isSuspended();
        wasInHandler = Suspended::checkSuspended(here);
        const auto before = Suspended::suspend(*state, StackPart::below(here, 0));
        wasInHandler = wasInHandler && Suspended::checkSuspended(here - 100);
        Suspended::resume(before);
    }
};

TEST(SuspendedState, CopyThatASignalInterruptsCountsAsSuspended) {
    void* const page = platform::mapPages(platform::pageSize());
    ASSERT_NE(page, nullptr);
    Interrupted::state = ::new (page) Words(Words::counted(5));
    struct sigaction action = {};
    struct sigaction old = {};
    action.sa_handler = &Interrupted::handle;
    ASSERT_EQ(::sigaction(SIGSEGV, &action, &old), 0);
    ASSERT_EQ(::mprotect(page, platform::pageSize(), PROT_NONE), 0);
    const Address top = addressOf(__builtin_frame_address(0));
    const auto before = Suspended::suspend(*Interrupted::state, StackPart::below(top, 0));
    EXPECT_EQ(::sigaction(SIGSEGV, &old, nullptr), 0);
    EXPECT_TRUE(Interrupted::wasSuspended && Interrupted::wasInHandler);
    EXPECT_TRUE(Interrupted::state->isEmpty() && Suspended::checkSuspended(top - 100));
    Suspended::resume(before);
    EXPECT_FALSE(Suspended::isSuspended());
    EXPECT_EQ(Interrupted::state->word, Words::counted(5).word);
    platform::unmapPages(page, platform::pageSize());
}

TEST(SuspendedState, IsRestoredAfterAHandlerThatDidNotReturn) {
    Words state = Words::counted(3);
    const auto before = Suspended::suspend(state, outer);
    EXPECT_FALSE(Suspended::checkSuspended(outer.top + 8)) << "above where it began";
    EXPECT_EQ(state.word, Words::counted(3).word);
    state.word[0] = 99;
    Suspended::resume(before); // a coroutine that was switched to again
    EXPECT_EQ(state.word[0], 99U) << "what came back is not brought back twice";
}

TEST(SuspendedState, StaysHiddenAfterAJumpFromAnInnerToTheOuterHandler) {
    constexpr StackPart alternate = StackPart::below(0x5000'0800, 0x5000'0000);
    Words state = Words::counted(3);
    const auto first = Suspended::suspend(state, outer);
    static_cast<void>(Suspended::suspend(state, alternate));
    EXPECT_TRUE(Suspended::checkSuspended(alternate.bottom));
    EXPECT_TRUE(Suspended::checkSuspended(outer.top - 1000)) << "the outer one is not over";
    Suspended::resume(first);
    EXPECT_EQ(state.word, Words::counted(3).word);
}

TEST(SuspendedState, EndsWithItsAlternateStack) {
    constexpr StackPart alternate = StackPart::below(0x5000'0800, 0x5000'0000);
    Words state = Words::counted(5);
    static_cast<void>(Suspended::suspend(state, alternate));
    EXPECT_FALSE(Suspended::checkSuspended(alternate.bottom - 8));
    EXPECT_EQ(state.word, Words::counted(5).word);
}

TEST(SuspendedState, CountsHandlersBeyondItsDepthAsTheirOuterOne) {
    Words state = Words::counted(5);
    std::array<Suspended::Before, 20> before;
    for (Suspended::Before& each : before) {
        each = Suspended::suspend(state, outer);
    }
    for (std::size_t i = before.size(); i-- > 0;) {
        EXPECT_TRUE(state.isEmpty());
        Suspended::resume(before[i]);
    }
    EXPECT_EQ(state.word, Words::counted(5).word);
}

TEST(SuspendedState, IsRestoredWhenTheThreadEnds) {
    Words state = Words::counted(5);
    static_cast<void>(Suspended::suspend(state, outer));
    Suspended::restore();
    EXPECT_EQ(state.word, Words::counted(5).word);
    Suspended::restore();
    EXPECT_FALSE(Suspended::isSuspended());
}

Words interrupted;
volatile std::uint64_t seen = 0;
volatile std::uint64_t wrong = 0;

/// Hides and shows again, as a handler's frame does, at any point of the timer.
void onTimer(int) {
    const Address here = addressOf(__builtin_frame_address(0));
    const auto before = Suspended::suspend(interrupted, StackPart::below(here, 0));
    wrong = wrong + (interrupted.isEmpty() ? 0U : 1U);
    Suspended::resume(before);
    seen = seen + 1;
}

TEST(SuspendedState, MayBeInterruptedAtAnyInstruction) {
    interrupted = Words::counted(11);
    struct sigaction action = {};
    action.sa_handler = &onTimer;
    action.sa_flags = SA_NODEFER | SA_RESTART;
    struct sigaction old = {};
    ASSERT_EQ(::sigaction(SIGALRM, &action, &old), 0);
    itimerval often = {{0, 50}, {0, 50}};
    ASSERT_EQ(::setitimer(ITIMER_REAL, &often, nullptr), 0);
    std::uint64_t differing = 0;
    while (seen < 2000) {
        const Address here = addressOf(__builtin_frame_address(0));
        const auto before = Suspended::suspend(interrupted, StackPart::below(here, 0));
        differing += interrupted.isEmpty() ? 0U : 1U;
        Suspended::resume(before);
        differing += interrupted.word == Words::counted(11).word ? 0U : 1U;
    }
    often = {};
    ::setitimer(ITIMER_REAL, &often, nullptr);
    ::sigaction(SIGALRM, &old, nullptr);
    EXPECT_EQ(differing, 0U);
    EXPECT_EQ(wrong, 0U);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/signal/suspended_state.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <sys/time.h>

namespace heapwright::testing {
namespace {

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
using Hidden = SuspendedState<Words>;

constexpr StackPart outer = StackPart::below(0x7000'0000, 0);
constexpr StackPart inner = StackPart::below(0x6FFF'0000, 0);

TEST(SuspendedState, IsOutOfSightInAHandlerAndBackAfterIt) {
    Words state = Words::counted(1);
    const auto before = Hidden::hide(state, outer);
    EXPECT_TRUE(Hidden::isSuspended() && state.isEmpty());
    EXPECT_TRUE(Hidden::stillSuspended(outer.top - 100));
    Hidden::show(before);
    EXPECT_FALSE(Hidden::isSuspended());
    EXPECT_EQ(state.word, Words::counted(1).word);
}

TEST(SuspendedState, StaysHiddenWhenAnInnerHandlerReturns) {
    Words state = Words::counted(7);
    const auto first = Hidden::hide(state, outer);
    const auto second = Hidden::hide(state, inner);
    Hidden::show(second);
    EXPECT_TRUE(state.isEmpty() && Hidden::stillSuspended(outer.top - 100));
    Hidden::show(first);
    EXPECT_EQ(state.word, Words::counted(7).word);
}

TEST(SuspendedState, ComesBackWhenAHandlerLeftForGood) {
    Words state = Words::counted(3);
    const auto before = Hidden::hide(state, outer);
    EXPECT_FALSE(Hidden::stillSuspended(outer.top + 8)) << "above where it began";
    EXPECT_EQ(state.word, Words::counted(3).word);
    state.word[0] = 99;
    Hidden::show(before); // a coroutine that was switched to again
    EXPECT_EQ(state.word[0], 99U) << "what came back is not brought back twice";
}

TEST(SuspendedState, IsStillHiddenWhenAnInnerHandlerLeftForTheOuter) {
    constexpr StackPart alternate = StackPart::below(0x5000'0800, 0x5000'0000);
    Words state = Words::counted(3);
    const auto first = Hidden::hide(state, outer);
    static_cast<void>(Hidden::hide(state, alternate));
    EXPECT_TRUE(Hidden::stillSuspended(alternate.bottom));
    EXPECT_TRUE(Hidden::stillSuspended(outer.top - 1000)) << "the outer one is not over";
    Hidden::show(first);
    EXPECT_EQ(state.word, Words::counted(3).word);
}

TEST(SuspendedState, EndsWithItsAlternateStack) {
    constexpr StackPart alternate = StackPart::below(0x5000'0800, 0x5000'0000);
    Words state = Words::counted(5);
    static_cast<void>(Hidden::hide(state, alternate));
    EXPECT_FALSE(Hidden::stillSuspended(alternate.bottom - 8));
    EXPECT_EQ(state.word, Words::counted(5).word);
}

TEST(SuspendedState, CountsHandlersBeyondItsDepthAsTheirOuterOne) {
    Words state = Words::counted(5);
    std::array<Hidden::Before, 20> before;
    for (Hidden::Before& each : before) {
        each = Hidden::hide(state, outer);
    }
    for (std::size_t i = before.size(); i-- > 0;) {
        EXPECT_TRUE(state.isEmpty());
        Hidden::show(before[i]);
    }
    EXPECT_EQ(state.word, Words::counted(5).word);
}

TEST(SuspendedState, ComesBackAtTheEndOfAThread) {
    Words state = Words::counted(5);
    static_cast<void>(Hidden::hide(state, outer));
    Hidden::bringBack();
    EXPECT_EQ(state.word, Words::counted(5).word);
    Hidden::bringBack();
    EXPECT_FALSE(Hidden::isSuspended());
}

Words interrupted;
volatile std::uint64_t seen = 0;
volatile std::uint64_t wrong = 0;

/// Hides and shows again, as a handler's frame does, from wherever the timer strikes.
void onTimer(int) {
    const Address here = addressOf(__builtin_frame_address(0));
    const auto before = Hidden::hide(interrupted, StackPart::below(here, 0));
    wrong = wrong + (interrupted.isEmpty() ? 0U : 1U);
    Hidden::show(before);
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
        const auto before = Hidden::hide(interrupted, StackPart::below(here, 0));
        differing += interrupted.isEmpty() ? 0U : 1U;
        Hidden::show(before);
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

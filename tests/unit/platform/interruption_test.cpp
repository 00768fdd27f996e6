// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/interruption.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heapwright::testing {
namespace {

struct Seen {
    Address instruction;
    Address stack;
    Address alternate;
    Address here;
};
Seen seen;

void onSignal(int /*signal*/, siginfo_t* /*info*/, void* given) {
    const auto& context = *static_cast<const ucontext_t*>(given);
    seen.here = addressOf(__builtin_frame_address(0));
    seen.instruction = platform::interruptedInstruction(context);
    seen.stack = platform::interruptedStack(context);
    seen.alternate = platform::alternateStackAt(context, seen.here);
}

/// Raises a signal whose handler is set with a flag more.
void interrupt(int flag) {
    struct sigaction action = {};
    struct sigaction before = {};
    action.sa_sigaction = &onSignal;
    action.sa_flags = SA_SIGINFO | flag;
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
    seen = {};
    ::raise(SIGUSR1);
    ::sigaction(SIGUSR1, &before, nullptr);
}

TEST(Interruption, KnowsTheInstructionAndTheStack) {
    interrupt(0);
    if (seen.instruction == 0) {
        GTEST_SKIP() << "this processor's contexts are not known";
    }
    EXPECT_GT(seen.stack, seen.here) << "the handler runs below what it interrupted";
    EXPECT_LT(seen.stack - seen.here, 64 * KiB);
    EXPECT_EQ(seen.alternate, 0U);
}

TEST(Interruption, KnowsTheAlternateStack) {
    std::vector<char> memory(128 * KiB);
    stack_t alternate = {};
    stack_t before = {};
    alternate.ss_sp = memory.data();
    alternate.ss_size = memory.size();
    ASSERT_EQ(::sigaltstack(&alternate, &before), 0);
    interrupt(SA_ONSTACK);
    EXPECT_EQ(seen.alternate, addressOf(memory.data()));
    before.ss_flags = before.ss_sp == nullptr ? SS_DISABLE : before.ss_flags;
    ::sigaltstack(&before, nullptr);
}

} // namespace
} // namespace heapwright::testing

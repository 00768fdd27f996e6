// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/signal_names.hpp>

#include <gtest/gtest.h>

#include <csignal>

namespace heapwright::testing {
namespace {

TEST(SignalNames, AreKnownWithAndWithoutTheirPrefix) {
    static_assert(platform::signalNamed("USR2") == SIGUSR2);
    static_assert(platform::signalNamed("SIGUSR2") == SIGUSR2);
    static_assert(platform::signalNamed("HUP") == SIGHUP);
    SUCCEED();
}

TEST(SignalNames, UnknownOrUnhandleableNamesReturnZero) {
    for (const std::string_view name : {"KILL", "STOP", "SEGV", "", "SIG", "usr2", "USR3", "12"}) {
        EXPECT_EQ(platform::signalNamed(name), 0) << name;
    }
}

TEST(SignalNames, ReturnsTheNameOfANumber) {
    EXPECT_EQ(platform::nameOfSignal(SIGUSR1), "USR1");
    EXPECT_EQ(platform::nameOfSignal(SIGHUP), "HUP");
    EXPECT_EQ(platform::nameOfSignal(SIGKILL), "");
    EXPECT_EQ(platform::nameOfSignal(0), "");
}

} // namespace
} // namespace heapwright::testing

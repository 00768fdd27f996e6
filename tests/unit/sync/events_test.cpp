// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sync/events.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(Events, HaveNoListenerInAnOrdinaryBuild) {
    // With a listener there would be no program, because the callee of `note` is not defined here.
    note(Event::readModifyWrite, nullptr);
    EXPECT_FALSE(platform::countsEvents || platform::scheduled);
}

} // namespace
} // namespace heapwright::testing

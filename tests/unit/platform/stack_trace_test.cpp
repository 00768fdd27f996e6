// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/stack_trace.hpp>

#include <gtest/gtest.h>

namespace heapwright::platform {
namespace {

TEST(StackTrace, RecordsFramesOnceTheUnwinderIsLoaded) {
    prepareStacks();
    ASSERT_TRUE(stacksReady());
    StackTrace stack;
    EXPECT_EQ(stack.count, 0U);
    stack.record();
    EXPECT_GE(stack.count, 2U);
    EXPECT_LE(stack.count, StackTrace::most);
    for (std::uint32_t frame = 0; frame < stack.count; ++frame) {
        EXPECT_NE(stack.frames[frame], nullptr) << frame;
    }
}

} // namespace
} // namespace heapwright::platform

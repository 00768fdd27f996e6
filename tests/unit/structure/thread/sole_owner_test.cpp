// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/thread/sole_owner.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

namespace heapwright {
namespace {

TEST(SoleOwner, IsTheFirstThreadThatAsks) {
    SoleOwner owner;
    EXPECT_FALSE(owner.isMine()) << "asking for it is no claim";
    EXPECT_TRUE(owner.isOrBecomesMine());
    EXPECT_TRUE(owner.isMine());
    std::thread([&owner] {
        EXPECT_FALSE(owner.isMine());
        EXPECT_FALSE(owner.isOrBecomesMine());
    }).join();
    EXPECT_TRUE(owner.isMine());
}

TEST(SoleOwner, RemainsOwnedByAThreadThatHasEnded) {
    SoleOwner owner;
    std::thread([&owner] { EXPECT_TRUE(owner.isOrBecomesMine()); }).join();
    EXPECT_FALSE(owner.isOrBecomesMine());
}

TEST(SoleOwner, IsNotAHandlerThatInterruptsAChange) {
    static SoleOwner owner;
    static bool mine = true;
    ASSERT_TRUE(owner.isOrBecomesMine());
    auto* const before = std::signal(SIGUSR2, [](int) { mine = owner.isOrBecomesMine(); });
    {
        const SoleOwner::Change change(owner);
        std::raise(SIGUSR2);
        EXPECT_FALSE(mine);
    }
    std::raise(SIGUSR2);
    EXPECT_TRUE(mine);
    std::signal(SIGUSR2, before);
}

} // namespace
} // namespace heapwright

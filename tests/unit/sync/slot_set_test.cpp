// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sync/slot_set.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

using Three = SlotSet<3>;
constinit Three atCompileTime;

TEST(SlotSet, GivesOutTheSmallestFreePlace) {
    EXPECT_EQ(atCompileTime.claim(10), 0U);
    EXPECT_EQ(atCompileTime.claim(11), 1U);
    EXPECT_EQ(atCompileTime.claim(12), 2U);
    EXPECT_EQ(atCompileTime.claim(13), Three::none);
    atCompileTime.release(1);
    atCompileTime.release(0);
    EXPECT_EQ(atCompileTime.claim(13), 0U);
    EXPECT_EQ(atCompileTime.claim(14), 1U);
}

TEST(SlotSet, InheritTakesThePlaceOfAnEndedTenant) {
    Three set;
    for (const std::uint32_t tenant : {10U, 11U, 12U}) {
        ASSERT_NE(set.claim(tenant), Three::none);
    }
    const auto nobody = [](std::uint32_t) { return false; };
    EXPECT_EQ(set.inherit(13, nobody), Three::none);
    EXPECT_EQ(set.inherit(13, [](std::uint32_t tenant) { return tenant == 11; }), 1U);
    EXPECT_EQ(set.inherit(14, [](std::uint32_t tenant) { return tenant == 11; }), Three::none);
    set.release(2);
    EXPECT_EQ(set.inherit(14, nobody), 2U) << "what has become free meanwhile is as good";
}

TEST(SlotSet, KeepOnlyKeepsOneTenant) {
    Three set;
    for (const std::uint32_t tenant : {10U, 11U, 12U}) {
        ASSERT_NE(set.claim(tenant), Three::none);
    }
    set.keepOnly(11, 21);
    EXPECT_EQ(set.claim(30), 0U);
    EXPECT_EQ(set.claim(31), 2U);
    EXPECT_EQ(set.claim(32), Three::none) << "the one in the middle is taken";
    set.keepOnly(0, 0);
    EXPECT_EQ(set.claim(33), 0U) << "who has none keeps none";
}

TEST(SlotSet, EachPlaceHasOneTenantThatSeesItsPredecessorsWrites) {
    SlotSet<2> set;
    std::array<std::uint32_t, 2> visits{}; // no atomics: whose place it is may write
    std::atomic<std::uint32_t> served{0};
    std::vector<std::thread> threads;
    for (std::uint32_t id = 1; id <= 4; ++id) {
        threads.emplace_back([&, id] {
            for (int i = 0; i < 5'000; ++i) {
                const std::uint32_t slot = set.claim(id);
                if (slot != SlotSet<2>::none) {
                    ++visits[slot];
                    ++served;
                    set.release(slot);
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(visits[0] + visits[1], served);
    EXPECT_GT(served, 0U);
}

} // namespace
} // namespace heapwright::testing

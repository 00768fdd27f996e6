// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/map/life_map.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace heapwright::testing {
namespace {

class LifeMapDeathTest : public ::testing::Test {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

    static void* at(Address address) { return pointerTo(address); }
    void add(Address address, std::size_t size) {
        map_.add(map_.reserve(), at(address), size, "malloc");
    }
    void freeAndGo(Address address) {
        map_.retire(map_.live(at(address), "free"));
        map_.letGo(*map_.oldest());
    }

    LifeMap map_;
};

TEST_F(LifeMapDeathTest, TracksAnObjectFromAllocationToRelease) {
    add(0x1000, 64);
    EXPECT_EQ(map_.live(at(0x1000), "free").size, 64U);
    EXPECT_EQ(map_.liveCount(), 1U);
    EXPECT_EQ(map_.oldest(), nullptr);
    EXPECT_TRUE(map_.owns(at(0x103F)));
    EXPECT_FALSE(map_.owns(at(0x1040)));

    map_.retire(map_.live(at(0x1000), "free"));
    EXPECT_EQ(map_.liveCount(), 0U);
    EXPECT_EQ(map_.waitingCount(), 1U);
    EXPECT_EQ(map_.waitingBytes(), 64U);
    EXPECT_TRUE(map_.owns(at(0x1000)));

    ASSERT_NE(map_.oldest(), nullptr);
    map_.letGo(*map_.oldest());
    EXPECT_EQ(map_.waitingCount(), 0U);
    EXPECT_EQ(map_.waitingBytes(), 0U);
    EXPECT_FALSE(map_.owns(at(0x1000)));
}

TEST_F(LifeMapDeathTest, ObjectsGoInTheOrderInWhichTheyWereFreed) {
    for (const Address address : {0x1000U, 0x2000U, 0x3000U}) {
        add(address, 16);
    }
    for (const Address address : {0x2000U, 0x3000U, 0x1000U}) {
        map_.retire(map_.live(at(address), "free"));
    }
    for (const Address address : {0x2000U, 0x3000U, 0x1000U}) {
        ASSERT_NE(map_.oldest(), nullptr);
        EXPECT_EQ(map_.oldest()->start, address);
        map_.letGo(*map_.oldest());
    }
}

TEST_F(LifeMapDeathTest, DescribesAnAddressThatIsNotLive) {
    const auto dies = [this](Address address, const char* routine, const char* words) {
        EXPECT_EXIT(static_cast<void>(map_.live(at(address), routine)),
                    ::testing::KilledBySignal(SIGABRT), words);
    };
    add(0x1000, 64);
    dies(0x1001, "free", "^heapwright: free\\(\\): pointer inside an object\n");
    dies(0x1040, "free", "^heapwright: free\\(\\): invalid pointer\n");
    map_.retire(map_.live(at(0x1000), "free"));
    dies(0x1000, "free", "^heapwright: free\\(\\): double free\n");
    dies(0x1000, "realloc", "^heapwright: realloc\\(\\): use of a freed object\n");
    dies(0x1010, "free", "^heapwright: free\\(\\): invalid pointer\n");
    map_.letGo(*map_.oldest());
    dies(0x1000, "free", "^heapwright: free\\(\\): double free\n");
}

TEST_F(LifeMapDeathTest, MemoryThatIsLiveOrWaitingCannotComeAgain) {
    const auto dies = [this](Address address, std::size_t size) {
        EXPECT_EXIT(add(address, size), ::testing::KilledBySignal(SIGABRT),
                    "^heapwright: malloc\\(\\): overlapping object\n");
    };
    add(0x1000, 64);
    dies(0x1000, 64);
    dies(0x0FFF, 2);
    dies(0x103F, 1);
    dies(0x0800, 0x1000);
    map_.retire(map_.live(at(0x1000), "free"));
    dies(0x1010, 1);
    map_.letGo(*map_.oldest());
    add(0x1010, 16);
    EXPECT_EQ(map_.liveCount(), 1U);
}

TEST_F(LifeMapDeathTest, GrowsOnlyIntoReleasedMemory) {
    add(0x1000, 64);
    add(0x1040, 64);
    EXPECT_EXIT(map_.resize(map_.live(at(0x1000), "realloc"), 65, "realloc"),
                ::testing::KilledBySignal(SIGABRT),
                "^heapwright: realloc\\(\\): overlapping object\n");
    freeAndGo(0x1040);
    map_.resize(map_.live(at(0x1000), "realloc"), 128, "realloc");
    EXPECT_TRUE(map_.owns(at(0x107F)));
    map_.resize(map_.live(at(0x1000), "realloc"), 10, "realloc");
    EXPECT_FALSE(map_.owns(at(0x100A)));
}

TEST_F(LifeMapDeathTest, AnEmptyObjectGrowsUpToItsNeighbour) {
    add(0x1000, 0);
    add(0x1001, 8);
    map_.resize(map_.live(at(0x1000), "realloc"), 1, "realloc");
    EXPECT_EQ(map_.live(at(0x1000), "free").size, 1U);
}

TEST_F(LifeMapDeathTest, MovesAnObject) {
    add(0x1000, 64);
    map_.move(map_.live(at(0x1000), "realloc"), at(0x1020), 128, "realloc");
    EXPECT_EQ(map_.liveCount(), 1U);
    EXPECT_EQ(map_.live(at(0x1020), "free").size, 128U);
    EXPECT_FALSE(map_.owns(at(0x1000)));
}

TEST_F(LifeMapDeathTest, KeepsTheLatestFreedObjectsOnly) {
    constexpr Address step = 64;
    for (Address i = 0; i <= LifeMap::remembered; ++i) {
        add(0x10000 + i * step, 16);
        freeAndGo(0x10000 + i * step);
    }
    EXPECT_EXIT(static_cast<void>(map_.live(at(0x10000 + step), "free")),
                ::testing::KilledBySignal(SIGABRT), "double free");
    EXPECT_EXIT(static_cast<void>(map_.live(at(0x10000), "free")),
                ::testing::KilledBySignal(SIGABRT), "invalid pointer");
}

TEST_F(LifeMapDeathTest, KeepsAnObjectThatWasReused) {
    add(0x1000, 16);
    freeAndGo(0x1000);
    add(0x1000, 32);
    for (Address i = 0; i <= LifeMap::remembered; ++i) {
        add(0x10000, 16);
        freeAndGo(0x10000);
    }
    EXPECT_EQ(map_.live(at(0x1000), "free").size, 32U);
}

TEST_F(LifeMapDeathTest, WalksOverTheLiveOnes) {
    for (const Address address : {0x3000U, 0x1000U, 0x2000U}) {
        add(address, address / 0x1000);
    }
    map_.retire(map_.live(at(0x2000), "free"));
    std::vector<std::pair<void*, std::size_t>> seen;
    map_.forEachLive([&](void* object, std::size_t size) { seen.emplace_back(object, size); });
    EXPECT_EQ(seen, (std::vector<std::pair<void*, std::size_t>>{{at(0x1000), 1}, {at(0x3000), 3}}));
}

TEST_F(LifeMapDeathTest, ClearDropsAllObjects) {
    add(0x1000, 16);
    add(0x2000, 16);
    map_.retire(map_.live(at(0x2000), "free"));
    map_.clear();
    EXPECT_EQ(map_.liveCount() + map_.waitingCount() + map_.waitingBytes(), 0U);
    EXPECT_EQ(map_.oldest(), nullptr);
    add(0x1000, 64);
    freeAndGo(0x1000);
}

} // namespace
} // namespace heapwright::testing

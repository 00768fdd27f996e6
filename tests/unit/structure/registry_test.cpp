// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/registry.hpp>

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

struct Member {
    int number = 0;
    RegistryLinks<Member> inRegistry;
};

std::set<int> numbersIn(Registry<Member>& registry) {
    std::set<int> numbers;
    registry.forEach(
        [&numbers](const Member& each) { EXPECT_TRUE(numbers.insert(each.number).second); });
    return numbers;
}

TEST(Registry, HasWhoEnteredAndDidNotLeave) {
    Registry<Member> registry;
    Member one{1, {}};
    Member two{2, {}};
    Member three{3, {}};
    EXPECT_EQ(numbersIn(registry), (std::set<int>{}));
    registry.enter(one);
    registry.enter(two);
    registry.enter(three);
    EXPECT_EQ(numbersIn(registry), (std::set<int>{1, 2, 3}));
    registry.leave(two); // in the middle
    EXPECT_EQ(numbersIn(registry), (std::set<int>{1, 3}));
    registry.leave(three); // the first
    registry.leave(one);   // the last
    EXPECT_EQ(numbersIn(registry), (std::set<int>{}));
    registry.enter(two);
    EXPECT_EQ(numbersIn(registry), (std::set<int>{2}));
}

TEST(Registry, LetsNobodyLeaveTwice) {
    Registry<Member> registry;
    Member one{1, {}};
    Member two{2, {}};
    registry.enter(one);
    registry.leave(two);
    registry.leave(one);
    registry.leave(one);
    registry.enter(two);
    EXPECT_EQ(numbersIn(registry), (std::set<int>{2}));
}

TEST(Registry, IsHeldStillWhileItIsGoneOver) {
    Registry<Member> registry;
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number) {
        threads.emplace_back([&registry, number] {
            Member own{number, {}};
            for (int i = 0; i < 2000; ++i) {
                registry.enter(own);
                registry.leave(own);
            }
        });
    }
    for (int i = 0; i < 2000; ++i) {
        registry.beforeFork();
        EXPECT_LE(numbersIn(registry).size(), 4U);
        registry.afterForkInParent();
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_TRUE(numbersIn(registry).empty());
}

TEST(Registry, HasTheForkingThreadAloneInAChild) {
    Registry<Member> registry;
    Member mine{1, {}};
    Member other{2, {}};
    registry.enter(mine);
    registry.enter(other);
    registry.beforeFork();
    registry.afterForkInChild(mine);
    EXPECT_EQ(numbersIn(registry), (std::set<int>{1}));
    registry.leave(mine);
    registry.beforeFork();
    registry.afterForkInChild(mine); // which had not entered
    EXPECT_EQ(numbersIn(registry), (std::set<int>{}));
    registry.enter(mine);
    EXPECT_EQ(numbersIn(registry), (std::set<int>{1}));
}

} // namespace
} // namespace heapwright::testing

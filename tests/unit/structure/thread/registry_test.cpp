// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/thread/registry.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace heapwright::testing {
namespace {

struct Member {
    int number = 0;
};

std::set<int> numbersIn(Registry<Member>& registry) {
    std::set<int> numbers;
    registry.forEach(
        [&numbers](const Member& each) { EXPECT_TRUE(numbers.insert(each.number).second); });
    return numbers;
}

/// A thread that enters, and leaves on an order.
class Entered {
public:
    Entered(Registry<Member>& registry, int number)
        : thread_([this, &registry, number] {
              Member own{number};
              EXPECT_TRUE(registry.enter(own));
              tell(1);
              stage_.wait(1);
              registry.leave(own);
          }) {
        stage_.wait(0);
    }
    void leave() {
        tell(2);
        thread_.join();
    }

private:
    void tell(int stage) {
        stage_ = stage;
        stage_.notify_all();
    }
    std::atomic<int> stage_{0};
    std::thread thread_;
};

TEST(Registry, ListsMembersThatEnteredAndDidNotLeave) {
    Registry<Member> registry;
    EXPECT_EQ(numbersIn(registry), (std::set<int>{}));
    Entered one(registry, 1);
    Entered two(registry, 2);
    Entered three(registry, 3);
    EXPECT_EQ(numbersIn(registry), (std::set<int>{1, 2, 3}));
    two.leave(); // in the middle
    EXPECT_EQ(numbersIn(registry), (std::set<int>{1, 3}));
    three.leave(); // the first
    one.leave();   // the last
    EXPECT_EQ(numbersIn(registry), (std::set<int>{}));
    Entered four(registry, 4);
    EXPECT_EQ(numbersIn(registry), (std::set<int>{4}));
    four.leave();
}

TEST(Registry, IgnoresLeaveOfAMemberThatDidNotEnter) {
    Registry<Member> registry;
    Member mine{1};
    const Member other{2};
    EXPECT_TRUE(registry.enter(mine));
    registry.leave(other);
    EXPECT_EQ(numbersIn(registry), (std::set<int>{1}));
    registry.leave(mine);
    registry.leave(mine);
    EXPECT_EQ(numbersIn(registry), (std::set<int>{}));
    EXPECT_TRUE(registry.enter(mine));
    EXPECT_EQ(numbersIn(registry), (std::set<int>{1}));
}

TEST(Registry, SkipsAMemberOfAnEndedThread) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const memory =
        ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    Registry<Member> registry;
    Entered before(registry, 1);
    std::thread([&registry, memory] {
        EXPECT_TRUE(registry.enter(*::new (memory) Member{2}));
    }).join();
    ASSERT_EQ(::munmap(memory, page), 0);
    // Asked now, before another thread takes over the slot.
    EXPECT_EQ(numbersIn(registry), (std::set<int>{1}));
    Entered after(registry, 3);
    before.leave();
    after.leave();
    Entered last(registry, 4);
    EXPECT_EQ(numbersIn(registry), (std::set<int>{4}));
    last.leave();
}

TEST(Registry, StaysUnchangedWhileAForkHoldsIt) {
    Registry<Member> registry;
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number) {
        threads.emplace_back([&registry, number] {
            Member own{number};
            for (int i = 0; i < 2000; ++i) {
                EXPECT_TRUE(registry.enter(own));
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

TEST(Registry, ForkedChildListsOnlyTheForkingThread) {
    Registry<Member> registry;
    Member mine{1};
    Entered other(registry, 2);
    const auto numbersInChild = [&registry, &mine] {
        registry.beforeFork();
        const ::pid_t child = ::fork();
        if (child == 0) {
            registry.afterForkInChild(mine);
            int sum = 0;
            registry.forEach([&sum](const Member& each) { sum += each.number; });
            registry.beforeFork(); // it is no longer held
            ::_exit(sum);
        }
        registry.afterForkInParent();
        int status = 0;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        return WEXITSTATUS(status);
    };
    EXPECT_EQ(numbersInChild(), 0) << "the forking thread has not entered";
    EXPECT_TRUE(registry.enter(mine));
    EXPECT_EQ(numbersInChild(), 1);
    EXPECT_EQ(numbersIn(registry), (std::set<int>{1, 2}));
    registry.leave(mine);
    other.leave();
}

} // namespace
} // namespace heapwright::testing

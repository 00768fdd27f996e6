// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/superblock/remote_frees.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <set>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

struct alignas(16) Object {
    ObjectLink link{nullptr};
    std::size_t sender = 0;
};

std::size_t lengthOf(const ObjectLink* chain) {
    std::size_t length = 0;
    for (; chain != nullptr; chain = chain->next) {
        ++length;
    }
    return length;
}

TEST(RemoteFrees, IsClosedAtFirst) {
    RemoteFrees<1 * KiB> queue;
    Object one;
    EXPECT_FALSE(queue.send(&one.link, &one.link, 16));
    EXPECT_EQ(queue.collect(), nullptr);
    EXPECT_EQ(queue.close(), nullptr);
}

TEST(RemoteFrees, KeepsWholeChainsUntilTheyAreCollected) {
    RemoteFrees<1 * KiB> queue;
    queue.open();
    EXPECT_EQ(queue.collect(), nullptr) << "an open queue is empty";
    std::array<Object, 3> objects;
    objects[0].link.next = &objects[1].link;
    EXPECT_TRUE(queue.send(&objects[0].link, &objects[1].link, 100));
    EXPECT_EQ(queue.bytes(), 112U);
    EXPECT_TRUE(queue.send(&objects[2].link, &objects[2].link, 16));
    EXPECT_EQ(queue.bytes(), 128U);
    EXPECT_EQ(queue.peek(), &objects[2].link);
    queue.open();
    ObjectLink* const chain = queue.collect();
    ASSERT_EQ(chain, &objects[2].link) << "opening an open queue changes nothing";
    EXPECT_EQ(chain->next, &objects[0].link);
    EXPECT_EQ(lengthOf(chain), 3U);
    EXPECT_EQ(queue.bytes(), 0U);
    EXPECT_EQ(queue.collect(), nullptr);
    EXPECT_TRUE(queue.send(&objects[2].link, &objects[2].link, 16)) << "it stays open";
}

TEST(RemoteFrees, RefusesChainsBeyondItsLimit) {
    RemoteFrees<64> queue;
    queue.open();
    std::array<Object, 3> objects;
    EXPECT_TRUE(queue.send(&objects[0].link, &objects[0].link, 40));
    EXPECT_FALSE(queue.send(&objects[1].link, &objects[1].link, 17));
    EXPECT_TRUE(queue.send(&objects[2].link, &objects[2].link, 16));
    EXPECT_EQ(queue.bytes(), 64U);
    EXPECT_EQ(lengthOf(queue.collect()), 2U);
    EXPECT_TRUE(queue.send(&objects[1].link, &objects[1].link, 17));
}

TEST(RemoteFrees, ReturnsAllWhenItIsClosed) {
    RemoteFrees<1 * KiB> queue;
    queue.open();
    std::array<Object, 2> objects;
    EXPECT_TRUE(queue.send(&objects[0].link, &objects[0].link, 16));
    EXPECT_EQ(queue.close(), &objects[0].link);
    EXPECT_FALSE(queue.send(&objects[1].link, &objects[1].link, 16));
    EXPECT_EQ(queue.collect(), nullptr) << "a collector does not open it";
    EXPECT_FALSE(queue.send(&objects[1].link, &objects[1].link, 16));
    queue.open();
    EXPECT_TRUE(queue.send(&objects[1].link, &objects[1].link, 16));
}

/// Each object arrives exactly once, while several threads send and several collect.
TEST(RemoteFrees, LosesNothingBetweenThreads) {
    constexpr std::size_t each = 5000;
    RemoteFrees<4 * KiB> queue;
    queue.open();
    std::array<std::vector<Object>, 3> objects;
    std::array<std::vector<ObjectLink*>, 2> arrived;
    std::atomic<std::size_t> senders{objects.size()};
    std::vector<std::thread> threads;
    for (auto& mine : objects) {
        mine = std::vector<Object>(each);
        threads.emplace_back([&queue, &mine, &senders] {
            for (Object& object : mine) {
                while (!queue.send(&object.link, &object.link, sizeof(Object))) {
                    std::this_thread::yield();
                }
            }
            --senders;
        });
    }
    for (auto& mine : arrived) {
        threads.emplace_back([&queue, &mine, &senders] {
            for (bool last = false; !last;) {
                last = senders == 0;
                for (ObjectLink* at = queue.collect(); at != nullptr; at = at->next) {
                    mine.push_back(at);
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::set<ObjectLink*> all;
    for (const auto& mine : arrived) {
        all.insert(mine.begin(), mine.end());
    }
    EXPECT_EQ(arrived[0].size() + arrived[1].size(), each * objects.size());
    EXPECT_EQ(all.size(), each * objects.size());
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/signal/deferred_frees.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <set>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

struct alignas(void*) Object {
    std::array<std::byte, sizeof(void*)> memory;
};

TEST(DeferredFrees, AreDrainedOnce) {
    DeferredFrees waiting;
    EXPECT_FALSE(waiting.any());
    waiting.drain([](void* /*object*/) { FAIL() << "nothing waits"; });
    std::array<Object, 3> objects{};
    std::multiset<void*> wanted;
    for (Object& object : objects) {
        waiting.add(&object);
        wanted.insert(&object);
        EXPECT_TRUE(waiting.any());
    }
    std::multiset<void*> released;
    waiting.drain([&released](void* object) { released.insert(object); });
    EXPECT_EQ(released, wanted);
    EXPECT_FALSE(waiting.any());
    waiting.drain([](void* /*object*/) { FAIL() << "they were worked off"; });
}

TEST(DeferredFrees, MayBeOverwrittenWhenTheyAreReleased) {
    DeferredFrees waiting;
    std::array<Object, 100> objects{};
    for (Object& object : objects) {
        waiting.add(&object);
    }
    std::size_t count = 0;
    waiting.drain([&count](void* object) {
        static_cast<Object*>(object)->memory.fill(std::byte{0xFF});
        ++count;
    });
    EXPECT_EQ(count, objects.size());
}

TEST(DeferredFrees, FreesDuringADrainWaitForTheNext) {
    DeferredFrees waiting;
    std::array<Object, 2> objects{};
    waiting.add(&objects[0]);
    waiting.drain([&](void* object) {
        EXPECT_EQ(object, &objects[0]);
        waiting.add(&objects[1]);
    });
    EXPECT_TRUE(waiting.any());
    waiting.drain([&](void* object) { EXPECT_EQ(object, &objects[1]); });
    EXPECT_FALSE(waiting.any());
}

TEST(DeferredFrees, AreNeitherLostNorDoubledBetweenThreads) {
    constexpr std::size_t threads = 3;
    constexpr std::size_t each = 3000;
    DeferredFrees waiting;
    std::vector<Object> objects(threads * each);
    std::vector<std::atomic<int>> released(objects.size());
    const auto release = [&](void* object) {
        ++released[static_cast<std::size_t>(static_cast<Object*>(object) - objects.data())];
    };
    std::vector<std::thread> crew;
    for (std::size_t number = 0; number < threads; ++number) {
        crew.emplace_back([&, number] {
            for (std::size_t i = 0; i < each; ++i) {
                waiting.add(&objects[number * each + i]);
                if (i % 16 == 0) {
                    waiting.drain(release);
                }
            }
        });
    }
    for (std::thread& thread : crew) {
        thread.join();
    }
    waiting.drain(release);
    for (const std::atomic<int>& times : released) {
        EXPECT_EQ(times.load(), 1);
    }
}

} // namespace
} // namespace heapwright::testing

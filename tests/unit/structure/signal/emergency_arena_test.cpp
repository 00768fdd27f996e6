// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/signal/emergency_arena.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

TEST(EmergencyArena, OwnsNothingBeforeItsFirstUse) {
    EmergencyArena arena;
    int word = 0;
    EXPECT_FALSE(arena.owns(nullptr));
    EXPECT_FALSE(arena.owns(&word));
    EXPECT_FALSE(arena.owns(pointerTo(~Address{0} / 2)));
}

TEST(EmergencyArena, GivesAlignedApartAndSized) {
    EmergencyArena arena;
    void* const first = arena.memalign(16, 100);
    void* const second = arena.memalign(4096, 1);
    ASSERT_TRUE(first != nullptr && second != nullptr);
    EXPECT_EQ(addressOf(first) % 16, 0U);
    EXPECT_EQ(addressOf(second) % 4096, 0U);
    EXPECT_GE(addressOf(second), addressOf(first) + 100);
    EXPECT_EQ(EmergencyArena::getSize(first), 112U);
    EXPECT_TRUE(arena.owns(first) && arena.owns(second));
    EXPECT_EQ(arena.live(), 2U);
}

TEST(EmergencyArena, StartsAgainWhenNothingIsLive) {
    EmergencyArena arena;
    void* const first = arena.memalign(16, 100);
    void* const second = arena.memalign(16, 100);
    arena.free(first);
    arena.free(second);
    EXPECT_EQ(arena.live(), 0U);
    EXPECT_EQ(arena.memalign(16, 100), first);
}

TEST(EmergencyArena, IsNullWhenItIsFull) {
    EmergencyArena arena;
    EXPECT_EQ(arena.memalign(16, EmergencyArena::capacity), nullptr);
    EXPECT_EQ(arena.memalign(16, ~std::size_t{0}), nullptr);
    EXPECT_EQ(arena.memalign(~std::size_t{0} / 2 + 1, 1), nullptr);
    void* const most = arena.memalign(16, EmergencyArena::capacity - 64);
    EXPECT_NE(most, nullptr);
    EXPECT_EQ(arena.memalign(16, 64), nullptr);
    arena.free(most);
    EXPECT_NE(arena.memalign(16, 64), nullptr);
}

TEST(EmergencyArena, ServesThreadsAtOnce) {
    EmergencyArena arena;
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int id = 0; id < 4; ++id) {
        threads.emplace_back([&, id] {
            for (int i = 0; i < 2000; ++i) {
                auto* const bytes = static_cast<unsigned char*>(arena.memalign(16, 40));
                if (bytes == nullptr) {
                    ++wrong;
                    continue;
                }
                std::memset(bytes, id, 40);
                wrong += bytes[0] != id || bytes[39] != id ? 1 : 0;
                arena.free(bytes);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(arena.live(), 0U);
}

} // namespace
} // namespace heapwright::testing

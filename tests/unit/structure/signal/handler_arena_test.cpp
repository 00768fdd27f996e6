// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/signal/handler_arena.hpp>

#include <gtest/gtest.h>

#include <atomic>
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

TEST(EmergencyArena, ReturnsAlignedSeparateObjectsOfKnownSize) {
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

TEST(EmergencyArena, ReturnsNullWhenItIsFull) {
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

constexpr std::size_t unit = 32 * KiB;
using Arena = HandlerArena<unit>;

std::uint64_t ownerTagOf(const void* object) {
    return *static_cast<const std::uint64_t*>(pointerTo(roundDown(addressOf(object) - 1, unit)));
}

TEST(HandlerArena, HasNothingBeforeItsFirstUse) {
    const Arena arena;
    EXPECT_EQ(arena.bytes(), 0U);
}

TEST(HandlerArena, ReturnsAlignedSeparateObjectsWithoutOwner) {
    Arena arena;
    std::vector<void*> objects;
    for (std::size_t align = 1; align <= 4 * unit; align *= 2) {
        for (const std::size_t size : {std::size_t{0}, std::size_t{1}, unit / 4, unit, 3 * unit}) {
            void* const object = arena.memalign(align, size);
            ASSERT_NE(object, nullptr);
            EXPECT_EQ(addressOf(object) % align, 0U);
            EXPECT_EQ(addressOf(object) % minAlignment, 0U);
            ASSERT_GE(Arena::getSize(object), size);
            std::memset(object, 0xFF, Arena::getSize(object));
            objects.push_back(object);
        }
    }
    for (void* const object : objects) {
        EXPECT_TRUE(Arena::owns(object));
        EXPECT_EQ(ownerTagOf(object), 0U) << "whatever is written into the objects";
        arena.free(object);
    }
}

TEST(HandlerArena, OwnsItsObjectsAndNoOthers) {
    alignas(unit) static std::array<char, unit> other{};
    EXPECT_FALSE(Arena::owns(other.data() + 64));
}

TEST(HandlerArena, StartsAgainWhenNothingIsLive) {
    Arena arena;
    void* const first = arena.memalign(16, 100);
    void* const second = arena.memalign(16, 100);
    arena.free(first);
    arena.free(second);
    EXPECT_EQ(arena.memalign(16, 100), first);
    arena.free(first);
}

TEST(HandlerArena, TakesMoreUnitsAndUsesThemAgain) {
    Arena arena;
    std::size_t most = 0;
    for (int round = 0; round < 10; ++round) {
        std::vector<void*> objects;
        for (int i = 0; i < 1000; ++i) {
            objects.push_back(arena.memalign(16, 1000));
            ASSERT_NE(objects.back(), nullptr);
        }
        if (round == 0) {
            most = arena.bytes();
            EXPECT_GE(most, 1000U * 1000U);
        }
        for (void* const object : objects) {
            arena.free(object);
        }
        EXPECT_LE(arena.bytes(), most + unit) << "not more for the same objects again";
    }
}

TEST(HandlerArena, UnmapsALargeObjectOnFree) {
    Arena arena;
    void* const object = arena.memalign(16, 10 * unit);
    ASSERT_NE(object, nullptr);
    EXPECT_GE(arena.bytes(), 10 * unit);
    arena.free(object);
    EXPECT_EQ(arena.bytes(), 0U);
}

TEST(HandlerArena, ReturnsNullForImpossibleSizes) {
    Arena arena;
    EXPECT_EQ(arena.memalign(16, ~std::size_t{0}), nullptr);
    EXPECT_EQ(arena.memalign(16, ~std::size_t{0} / 2), nullptr);
    EXPECT_EQ(arena.memalign(~std::size_t{0} / 2 + 1, 1), nullptr);
}

TEST(HandlerArena, FillsAUnitToItsEnd) {
    Arena arena;
    std::vector<void*> objects;
    for (std::size_t i = 0; i < 3 * (unit / 32); ++i) { // 32 bytes with its header: no rest
        objects.push_back(arena.memalign(16, 16));
        ASSERT_NE(objects.back(), nullptr);
        ASSERT_NE(addressOf(objects.back()) % unit, 0U);
    }
    for (void* const object : objects) {
        arena.free(object);
    }
    EXPECT_LE(arena.bytes(), 4 * unit);
}

TEST(HandlerArena, ServesThreadsAtOnce) {
    Arena arena;
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&arena, &wrong, t] {
            std::vector<unsigned char*> mine;
            for (int i = 0; i < 20000; ++i) {
                const std::size_t size = 16 + static_cast<std::size_t>(i * 37 % 3000);
                auto* const object = static_cast<unsigned char*>(arena.memalign(16, size));
                if (object == nullptr) {
                    ++wrong;
                    continue;
                }
                std::memset(object, t + 1, size);
                mine.push_back(object);
                if (mine.size() > 40) {
                    unsigned char* const old = mine[static_cast<std::size_t>(i) % mine.size()];
                    wrong += *old != t + 1 || !Arena::owns(old) ? 1 : 0;
                    mine[static_cast<std::size_t>(i) % mine.size()] = mine.back();
                    mine.pop_back();
                    arena.free(old);
                }
            }
            for (unsigned char* const object : mine) {
                wrong += *object != t + 1 ? 1 : 0;
                arena.free(object);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_LE(arena.bytes(), 4U * 64U * 2U * unit) << "as much as could be live, not all there was";
}

} // namespace
} // namespace heapwright::testing

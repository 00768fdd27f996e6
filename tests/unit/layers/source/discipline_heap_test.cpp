// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/allocators/vmalloc_region.hpp>
#include <heapwright/layers/source/discipline_heap.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

namespace heapwright::testing {
namespace {

/// Checks that an area is freed with its size. Has no memory for the next `failures` requests.
struct Watched : Discipline {
    Watched() : Discipline{&serve, &retry, 64} {}

    std::map<void*, std::size_t> areas;
    std::size_t wrong = 0;
    int failures = 0;
    int exceptions = 0;
    int attempts = 0; ///< that the exception function still asks for

private:
    static void* serve(Discipline& self, void* area, std::size_t size,
                       std::size_t newSize) noexcept {
        auto& watched = static_cast<Watched&>(self);
        if (area != nullptr) {
            watched.wrong += newSize != 0 || watched.areas[area] != size ? 1U : 0U;
            watched.areas.erase(area);
            std::free(area);
            return nullptr;
        }
        if (watched.failures > 0) {
            --watched.failures;
            return nullptr;
        }
        void* const served = std::malloc(newSize);
        watched.areas[served] = newSize;
        return served;
    }

    static bool retry(Discipline& self, std::size_t size) noexcept {
        auto& watched = static_cast<Watched&>(self);
        ++watched.exceptions;
        watched.wrong += watched.round != 0 && size % watched.round != 0 ? 1U : 0U;
        return watched.attempts-- > 0;
    }
};

/// The discipline that a test has chosen.
struct Chosen {
    static inline Discipline* discipline = nullptr;
    static Discipline& get() noexcept { return *discipline; }
};

class DisciplineHeapTest : public ::testing::Test {
protected:
    DisciplineHeapTest() { Chosen::discipline = &watched_; }

    Watched watched_;
    DisciplineHeap<Chosen> heap_;
};

TEST_F(DisciplineHeapTest, AreasAreMultiplesOfTheRoundingAndTheObjectHasTheRest) {
    for (const std::size_t round : {0U, 1U, 64U, 100U, 4096U}) {
        watched_.round = round;
        for (const std::size_t size : {0U, 1U, 24U, 25U, 1000U, 5000U}) {
            void* const object = heap_.malloc(size);
            ASSERT_NE(object, nullptr);
            EXPECT_EQ(addressOf(object) % minAlignment, 0U);
            const std::size_t capacity = heap_.getSize(object);
            EXPECT_GE(capacity, size);
            std::memset(object, 7, capacity);
            ASSERT_EQ(watched_.areas.size(), 1U);
            const auto [area, bytes] = *watched_.areas.begin();
            EXPECT_TRUE(round == 0 || bytes % round == 0) << round << " " << bytes;
            EXPECT_LE(addressOf(object) + capacity, addressOf(area) + bytes);
            EXPECT_GT(addressOf(object) + capacity + minAlignment, addressOf(area) + bytes);
            heap_.free(object);
            EXPECT_TRUE(watched_.areas.empty());
        }
    }
    EXPECT_EQ(watched_.wrong, 0U);
}

TEST_F(DisciplineHeapTest, TheExceptionFunctionDecidesWhetherAFailedRequestIsRepeated) {
    watched_.failures = 3;
    watched_.attempts = 3;
    void* const object = heap_.malloc(100);
    EXPECT_NE(object, nullptr);
    EXPECT_EQ(watched_.exceptions, 3);
    heap_.free(object);
    watched_.failures = 3;
    watched_.attempts = 1;
    EXPECT_EQ(heap_.malloc(100), nullptr);
    EXPECT_EQ(watched_.exceptions, 5);
    watched_.failures = 1;
    watched_.exception = nullptr;
    EXPECT_EQ(heap_.malloc(100), nullptr);
    EXPECT_EQ(heap_.malloc(SIZE_MAX), nullptr);
    EXPECT_EQ(watched_.wrong, 0U);
}

TEST_F(DisciplineHeapTest, AnAreaReturnsToTheDisciplineFromWhichItCame) {
    Watched other;
    void* const first = heap_.malloc(100);
    Chosen::discipline = &other;
    void* const second = heap_.malloc(100);
    EXPECT_EQ(other.areas.size(), 1U);
    heap_.free(first);
    EXPECT_TRUE(watched_.areas.empty());
    heap_.free(second);
    EXPECT_TRUE(other.areas.empty());
    EXPECT_EQ(watched_.wrong + other.wrong, 0U);
}

TEST_F(DisciplineHeapTest, ARegionFreesSingleObjectsAndReturnsAllItsAreas) {
    watched_.round = 64 * KiB;
    {
        allocators::VmallocRegion<Chosen> region;
        allocators::VmallocRegion<Chosen> other;
        std::vector<void*> objects;
        for (std::size_t size = 1; size < 3000; ++size) {
            objects.push_back(region.malloc(size));
            ASSERT_NE(objects.back(), nullptr);
            std::memset(objects.back(), 1, size);
        }
        void* const kept = other.malloc(100);
        const std::size_t areas = watched_.areas.size();
        EXPECT_GT(areas, 3U);
        for (void* const object : objects) {
            region.free(object);
        }
        objects.clear();
        for (std::size_t size = 1; size < 3000; ++size) {
            objects.push_back(region.malloc(size));
        }
        EXPECT_LE(watched_.areas.size(), areas + 1) << "freed objects are used again";
        region.clear();
        EXPECT_EQ(watched_.areas.size(), 1U);
        EXPECT_GE(other.getSize(kept), 100U);
    }
    EXPECT_TRUE(watched_.areas.empty());
    EXPECT_EQ(watched_.wrong, 0U);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/allocators/arenas.hpp>
#include <heapwright/allocators/reap_hoard.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

using allocators::ReapHoard;

std::size_t mappedBy(ReapHoard& heap) {
    MemoryUsage usage;
    heap.measure(usage);
    return usage.mapped;
}

TEST(ReapHoard, ServesOneThreadInSequenceAndFromFreedObjects) {
    ReapHoard heap;
    auto* const first = static_cast<std::byte*>(heap.malloc(32));
    auto* const second = static_cast<std::byte*>(heap.malloc(32));
    EXPECT_EQ(static_cast<std::size_t>(second - first), heap.getSize(first)); // without a header
    heap.free(first);
    EXPECT_EQ(heap.malloc(32), first);
    void* const large = heap.malloc(100'000);
    heap.free(large);
    EXPECT_EQ(heap.malloc(100'000), large);
}

// Each thread frees what its neighbour has made, as it makes the next.
TEST(ReapHoard, AnyThreadFreesObjectsOfAnyOther) {
    constexpr std::size_t threads = 4;
    constexpr int rounds = 20'000;
    ReapHoard heap;
    std::vector<std::atomic<std::byte*>> given(threads);
    std::vector<std::thread> crew;
    std::atomic<int> wrong = 0;
    for (std::size_t me = 0; me < threads; ++me) {
        crew.emplace_back([&, me] {
            for (int i = 0; i < rounds; ++i) {
                const std::size_t size =
                    1 + static_cast<std::size_t>(i) % (i % 50 == 0 ? 9000 : 300);
                auto* const object = static_cast<std::byte*>(heap.malloc(size));
                if (object == nullptr) {
                    ++wrong;
                    continue;
                }
                std::memset(object, static_cast<int>(me), size);
                if (std::byte* const other = given[(me + 1) % threads].exchange(nullptr)) {
                    wrong += other[0] == std::byte((me + 1) % threads) ? 0 : 1;
                    heap.free(other);
                }
                if (std::byte* const mine = given[me].exchange(object)) {
                    heap.free(mine);
                }
            }
        });
    }
    for (std::thread& thread : crew) {
        thread.join();
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_LT(mappedBy(heap), 16 * MiB);
}

TEST(ReapHoard, ClearingOneEmptiesNestedOnesOfAnyThread) {
    ReapHoard root;
    ReapHoard inside(root);
    for (int round = 0; round < 3; ++round) {
        std::vector<std::thread> crew;
        for (int thread = 0; thread < 3; ++thread) {
            crew.emplace_back([&] {
                ReapHoard own(inside);
                for (std::size_t i = 0; i < 2000; ++i) {
                    EXPECT_NE(inside.malloc(i), nullptr);
                    EXPECT_NE(own.malloc(i), nullptr);
                }
            });
        }
        for (std::thread& thread : crew) {
            thread.join();
        }
        EXPECT_GT(mappedBy(inside), 0U);
        root.clear();
        EXPECT_EQ(mappedBy(inside), 0U);
    }
}

TEST(ReapHoard, IsAMemoryResourceToo) {
    HoardReap reap;
    HoardReap inside(reap);
    std::pmr::vector<int> numbers(&inside);
    for (int i = 0; i < 10'000; ++i) {
        numbers.push_back(i);
    }
    EXPECT_EQ(numbers.back(), 9999);
    EXPECT_TRUE(inside.isInside(reap));
}

} // namespace
} // namespace heapwright::testing

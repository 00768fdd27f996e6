// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "extent_heap_fixture.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

/// Objects with marks at their ends through all requests that a heap supports. Returns whether each
/// request succeeded.
bool exercise(Extents& heap) {
    struct Object {
        unsigned char* run = nullptr;
        std::size_t size = 0;
    };
    std::vector<Object> objects(12);
    std::mt19937 random(11);
    bool all = true;
    for (int step = 0; step < 150; ++step) {
        Object& object = objects[random() % objects.size()];
        const std::size_t size = 1 + random() % (random() % 4 == 0 ? 12 * MiB : 500000);
        ExtentLedger::the().now += 5;
        if (object.run == nullptr) {
            void* const run = step % 3 == 0   ? heap.zalloc(size)
                              : step % 3 == 1 ? heap.malloc(size)
                                              : heap.mallocAt(size, 2 * unit, unit);
            all = all && run != nullptr;
            if (run == nullptr) {
                continue;
            }
            object = {static_cast<unsigned char*>(run), size};
            EXPECT_TRUE(step % 3 != 0 || (object.run[0] == 0 && object.run[size - 1] == 0));
        } else {
            EXPECT_EQ(object.run[0], object.run[object.size - 1]);
            if (step % 3 == 0 && heap.resize(object.run, size)) {
                object.size = size;
            } else if (void* const moved =
                           step % 3 != 1 ? nullptr : heap.relocate(object.run, size)) {
                object = {static_cast<unsigned char*>(moved), size};
            } else {
                heap.free(object.run);
                object = {};
                continue;
            }
        }
        object.run[0] = object.run[object.size - 1] = static_cast<unsigned char>(step);
    }
    for (const Object& object : objects) {
        if (object.run != nullptr) {
            heap.free(object.run);
        }
    }
    heap.purgeExpired();
    heap.trim(0);
    return all;
}

TEST_F(ExtentHeapTest, GivesRunsOfAlignedUnitsThatDoNotOverlap) {
    Extents heap;
    std::mt19937 random(7);
    std::vector<std::pair<unsigned char*, std::size_t>> live;
    for (int step = 0; step < 3000; ++step) {
        if (live.size() < 60 || random() % 2 == 0) {
            const std::size_t size = 1 + random() % (random() % 8 == 0 ? 3 * MiB : 200 * KiB);
            auto* const run = static_cast<unsigned char*>(heap.malloc(size));
            ASSERT_NE(run, nullptr);
            ASSERT_EQ(addressOf(run) % unit, 0U);
            ASSERT_GE(heap.getSize(run), size);
            ASSERT_LT(heap.getSize(run), size + unit);
            ASSERT_TRUE(heap.owns(run));
            ASSERT_TRUE(heap.owns(run + size - 1));
            run[0] = run[size - 1] = static_cast<unsigned char>(step);
            run[heap.getSize(run) - 1] = static_cast<unsigned char>(step);
            live.emplace_back(run, size);
        }
        if (live.size() > 40) {
            const std::size_t which = random() % live.size();
            const auto [run, size] = live[which];
            ASSERT_EQ(run[0], run[size - 1]);
            ASSERT_EQ(run[heap.getSize(run) - 1], run[0]);
            heap.free(run);
            live[which] = live.back();
            live.pop_back();
        }
    }
    for (const auto& [run, size] : live) {
        heap.free(run);
    }
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.direct, 0U);
    EXPECT_LT(usage.mapped - usage.held, usage.mapped / 50) << "but for the chunks' own";
}

TEST_F(ExtentHeapTest, TakesTheRunThatFitsBest) {
    Extents heap;
    std::vector<void*> runs;
    for (const std::size_t units : {5U, 1U, 3U, 1U, 9U, 1U}) {
        runs.push_back(heap.malloc(units * unit));
    }
    for (const std::size_t free : {0U, 2U, 4U}) {
        heap.free(runs[free]);
    }
    EXPECT_EQ(heap.malloc(2 * unit + 1), runs[2]) << "the hole of 3";
    EXPECT_EQ(heap.malloc(4 * unit), runs[0]) << "the hole of 5";
    EXPECT_EQ(heap.malloc(unit), forward(runs[0], 4 * unit)) << "what is left of it";
    EXPECT_EQ(heap.malloc(9 * unit), runs[4]);
}

TEST_F(ExtentHeapTest, MergesFreedRuns) {
    Extents heap;
    std::vector<void*> runs;
    for (int i = 0; i < 127; ++i) {
        runs.push_back(heap.malloc(unit));
    }
    const std::size_t calls = ExtentLedger::the().maps;
    EXPECT_EQ(calls, 1U) << "127 units and the chunk's own";
    for (const int step : {2, 3}) {
        for (std::size_t i = static_cast<std::size_t>(step) - 2; i < 127; i += 2) {
            heap.free(runs[i]);
        }
    }
    EXPECT_EQ(heap.malloc(127 * unit), runs[0]);
    EXPECT_EQ(ExtentLedger::the().maps, calls);
}

TEST_F(ExtentHeapTest, HonoursAlignmentsAndPhases) {
    Extents heap;
    for (std::size_t align = 16; align <= 64 * MiB; align *= 4) {
        std::vector<void*> runs;
        for (const std::size_t size : {std::size_t{1}, unit, 5 * unit + 1, 3 * MiB, 9 * MiB}) {
            void* const run = heap.memalign(align, size);
            ASSERT_NE(run, nullptr) << align;
            EXPECT_EQ(addressOf(run) % align, 0U);
            EXPECT_GE(heap.getSize(run), size);
            std::memset(run, 1, size);
            runs.push_back(run);
            if (align > unit) {
                void* const phased = heap.mallocAt(size, align, align - unit);
                ASSERT_NE(phased, nullptr) << align;
                EXPECT_EQ(addressOf(phased) % align, align - unit);
                std::memset(phased, 1, size);
                runs.push_back(phased);
            }
        }
        for (void* const run : runs) {
            heap.free(run);
        }
    }
}

TEST_F(ExtentHeapTest, GrowsAndShrinksInPlace) {
    Extents heap;
    void* const first = heap.malloc(unit);
    void* const second = heap.malloc(4 * unit);
    EXPECT_FALSE(heap.resize(first, unit + 1)) << "somebody stands there";
    EXPECT_TRUE(heap.resize(second, 10 * unit));
    EXPECT_EQ(heap.getSize(second), 10 * unit);
    void* const third = heap.malloc(unit);
    EXPECT_EQ(third, forward(second, 10 * unit));
    EXPECT_TRUE(heap.resize(second, 3 * unit));
    EXPECT_EQ(heap.getSize(second), 3 * unit);
    EXPECT_EQ(heap.malloc(7 * unit), forward(second, 3 * unit)) << "what it was made shorter by";
    heap.free(second);
    EXPECT_TRUE(heap.resize(first, 4 * unit));
    EXPECT_FALSE(heap.resize(first, 5 * unit));
    EXPECT_FALSE(heap.resize(first, SIZE_MAX));
}

TEST_F(ExtentHeapTest, LargerRunsHaveMappingsThatGrowAndMoveByTheirPages) {
    Extents heap;
    void* run = heap.malloc(20 * MiB);
    std::memset(run, 7, 20 * MiB);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.directCount, 1U);
    EXPECT_GE(usage.direct, 20 * MiB);
    EXPECT_TRUE(heap.resize(run, 10 * MiB));
    MemoryUsage smaller;
    heap.measure(smaller);
    EXPECT_LE(smaller.direct, 12 * MiB) << "its end has been given back";
    void* const moved = heap.relocate(run, 40 * MiB);
    ASSERT_NE(moved, nullptr);
    EXPECT_GE(heap.getSize(moved), 40 * MiB);
    EXPECT_TRUE(heap.owns(forward(moved, 40 * MiB - 1)));
    const auto* const bytes = static_cast<const unsigned char*>(moved);
    for (std::size_t at = 0; at < 10 * MiB; at += 1000) {
        ASSERT_EQ(bytes[at], 7);
    }
    EXPECT_TRUE(heap.resize(moved, 45 * MiB)) << "with the addresses that it was given to grow on";
    EXPECT_TRUE(isZero(forward(moved, 20 * MiB), 25 * MiB));
    heap.free(moved);
}

TEST_F(ExtentHeapTest, MovesARunOutOfItsChunkByItsPages) {
    Extents heap;
    void* const run = heap.malloc(300 * KiB);
    void* const neighbour = heap.malloc(unit);
    std::memset(run, 9, 300 * KiB);
    std::memset(neighbour, 3, unit);
    EXPECT_FALSE(heap.resize(run, 1 * MiB));
    void* const moved = heap.relocate(run, 1 * MiB);
    ASSERT_NE(moved, nullptr);
    EXPECT_EQ(static_cast<unsigned char*>(moved)[300 * KiB - 1], 9);
    EXPECT_EQ(static_cast<unsigned char*>(moved)[0], 9);
    EXPECT_TRUE(isZero(forward(moved, 300 * KiB), 724 * KiB));
    EXPECT_EQ(static_cast<unsigned char*>(neighbour)[unit - 1], 3);
    void* const again = heap.zalloc(300 * KiB);
    EXPECT_EQ(again, run) << "the place that was left";
    EXPECT_TRUE(isZero(again, 300 * KiB));
    EXPECT_EQ(heap.relocate(neighbour, 1 * MiB), nullptr) << "too short to be worth it";
    heap.free(moved);
    heap.free(again);
    heap.free(neighbour);
}

TEST_F(ExtentHeapTest, SurvivesASystemThatRefusesAnyCall) {
    for (const std::uint32_t delay : {purgeAtOnce, 50U}) {
        std::size_t refused = 0;
        for (std::size_t refuse = 1; refuse <= 120; ++refuse) {
            ExtentLedger::begin(refuse);
            ExtentLedger::the().delay = delay;
            {
                Extents heap;
                refused += exercise(heap) ? 0U : 1U;
            }
            ASSERT_EQ(ExtentLedger::the().lost(), 0U) << refuse;
        }
        EXPECT_GT(refused, 0U);
    }
    ExtentLedger::begin(ExtentLedger::all);
    Extents heap;
    EXPECT_EQ(heap.malloc(1), nullptr);
    EXPECT_EQ(heap.zalloc(100 * MiB), nullptr);
    EXPECT_EQ(heap.memalign(8 * MiB, 1), nullptr);
    ExtentLedger::begin();
    void* const run = heap.malloc(1);
    EXPECT_NE(run, nullptr);
    heap.free(run);
}

TEST_F(ExtentHeapTest, UnmapsEmptyChunksBeforeItRefusesARequest) {
    ExtentLedger::the().delay = purgeNever;
    Extents heap;
    std::vector<void*> runs;
    for (std::size_t each = 0; each < 160; ++each) {
        runs.push_back(heap.malloc(100 * KiB));
    }
    ExtentLedger::the().limit = ExtentLedger::the().mapped();
    EXPECT_EQ(heap.malloc(20 * MiB), nullptr) << "all chunks have objects";
    for (void* const run : runs) {
        heap.free(run);
    }
    void* const large = heap.malloc(12 * MiB);
    EXPECT_NE(large, nullptr);
    EXPECT_LE(ExtentLedger::the().mapped(), ExtentLedger::the().limit);
    heap.free(large);
}

TEST_F(ExtentHeapTest, RefusesSizesBeyondAnyMemory) {
    Extents heap;
    for (const std::size_t size : {SIZE_MAX, SIZE_MAX - unit, SIZE_MAX / 2, SIZE_MAX / 4 + 2}) {
        const volatile std::size_t asked = size;
        EXPECT_EQ(heap.malloc(asked), nullptr);
        EXPECT_EQ(heap.zalloc(asked), nullptr);
        EXPECT_EQ(heap.memalign(1 * MiB, asked), nullptr);
    }
    EXPECT_EQ(heap.memalign(std::size_t{1} << 63U, 1), nullptr);
    EXPECT_EQ(ExtentLedger::the().mapped(), 0U);
}

TEST_F(ExtentHeapTest, ReportsHeldAndRequestedBytes) {
    Extents heap;
    void* const first = heap.malloc(5 * unit);
    void* const second = heap.malloc(40 * MiB);
    heap.free(heap.malloc(3 * unit));
    HeapSnapshot before;
    heap.inspect(before);
    EXPECT_EQ(before.source.chunks, 2U);
    EXPECT_EQ(before.source.usedBytes, 5 * unit + 40 * MiB);
    EXPECT_EQ(before.source.dirtyBytes, 3 * unit);
    EXPECT_EQ(before.source.cleanBytes, 119 * unit);
    EXPECT_EQ(before.system.maps, 2U);
    EXPECT_EQ(before.system.nowMapped(), ExtentLedger::the().mapped());
    std::map<void*, std::pair<std::size_t, bool>> runs;
    heap.forEachRun([&](void* run, std::size_t bytes, bool alone) { runs[run] = {bytes, alone}; });
    EXPECT_EQ(runs, (std::map<void*, std::pair<std::size_t, bool>>{{first, {5 * unit, false}},
                                                                   {second, {40 * MiB, true}}}));
    EXPECT_TRUE(heap.resize(second, 20 * MiB));
    heap.trim(0);
    HeapSnapshot after;
    heap.inspect(after);
    EXPECT_EQ(after.source.dirtyBytes, 0U);
    EXPECT_EQ(after.system.purgedBytes, 3 * unit);
    EXPECT_EQ(after.system.nowMapped(), ExtentLedger::the().mapped());
    EXPECT_EQ(after.source.chunkBytes, ExtentLedger::the().mapped());
}

TEST_F(ExtentHeapTest, ServesSeveralThreads) {
    ExtentLedger::the().delay = 1;
    Extents heap;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([&heap, t] {
            std::mt19937 random(t);
            std::vector<std::pair<unsigned char*, std::size_t>> live;
            for (int step = 0; step < 3000; ++step) {
                if (live.size() < 30) {
                    const std::size_t size = 1 + random() % (random() % 16 == 0 ? 6 * MiB : 300000);
                    auto* const run = static_cast<unsigned char*>(
                        step % 3 == 0 ? heap.zalloc(size) : heap.malloc(size));
                    run[0] = static_cast<unsigned char>(t);
                    run[size - 1] = static_cast<unsigned char>(t);
                    live.emplace_back(run, size);
                }
                const std::size_t which = random() % live.size();
                auto& [run, size] = live[which];
                ASSERT_EQ(run[0], t);
                ASSERT_EQ(run[size - 1], t);
                if (step % 4 == 0 && heap.resize(run, size / 2 + 1)) {
                    size = size / 2 + 1;
                    run[size - 1] = static_cast<unsigned char>(t);
                } else if (step % 4 == 1) {
                    if (void* const moved = heap.relocate(run, size * 2)) {
                        run = static_cast<unsigned char*>(moved);
                    }
                } else {
                    heap.free(run);
                    live[which] = live.back();
                    live.pop_back();
                }
                if (step % 50 == 0) {
                    ++ExtentLedger::the().now;
                    heap.purgeExpired();
                }
            }
            for (const auto& [run, size] : live) {
                heap.free(run);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    heap.trim(0);
    EXPECT_EQ(ExtentLedger::the().mapped(), 0U);
}

} // namespace
} // namespace heapwright::testing

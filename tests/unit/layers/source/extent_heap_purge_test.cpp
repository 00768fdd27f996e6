// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// When free memory returns to the system, and what is known of it until then.
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

TEST_F(ExtentHeapTest, KnowsWhichUnitsAreZero) {
    Extents heap;
    auto* const run = static_cast<unsigned char*>(heap.malloc(10 * unit));
    std::memset(run, 0xFF, 10 * unit);
    heap.free(run);
    auto* const some = static_cast<unsigned char*>(heap.zalloc(20 * unit));
    ASSERT_EQ(some, run);
    EXPECT_TRUE(isZero(some, 20 * unit));
    std::memset(some, 0xFF, 20 * unit);
    heap.free(some);
    auto* const part = static_cast<unsigned char*>(heap.zalloc(2 * unit + 5));
    ASSERT_EQ(part, run);
    EXPECT_TRUE(isZero(part, 2 * unit + 5));
    EXPECT_EQ(part[2 * unit + 5], 0xFF) << "no more is filled than was asked for";
    EXPECT_TRUE(heap.trim(0));
    heap.free(part);
    auto* const large = static_cast<unsigned char*>(heap.zalloc(30 * MiB));
    EXPECT_TRUE(isZero(large, 30 * MiB));
    std::memset(large, 0xFF, 30 * MiB);
    heap.free(large);
    auto* const again = static_cast<unsigned char*>(heap.zalloc(25 * MiB));
    EXPECT_TRUE(isZero(again, 25 * MiB));
    std::memset(again, 0xFF, 7 * MiB);
    EXPECT_TRUE(heap.resize(again, 7 * MiB));
    heap.free(again);
    auto* const rest = static_cast<unsigned char*>(heap.zalloc(7 * MiB));
    EXPECT_EQ(rest, again);
    EXPECT_TRUE(isZero(rest, 7 * MiB));
}

TEST_F(ExtentHeapTest, KeepsNoMemoryLongerThanTheDelay) {
    ExtentLedger& ledger = ExtentLedger::the();
    ledger.delay = 100;
    Extents heap;
    std::mt19937 random(3);
    std::vector<std::pair<void*, std::size_t>> live;
    std::vector<std::pair<std::uint32_t, std::size_t>> freed; // when, how much
    for (int step = 0; step < 4000; ++step) {
        ledger.now += random() % 8;
        if (live.size() < 50 || random() % 2 == 0) {
            const std::size_t size = (1 + random() % 40) * unit;
            live.emplace_back(heap.malloc(size), size);
        } else {
            const std::size_t which = random() % live.size();
            freed.emplace_back(ledger.now, live[which].second);
            heap.free(live[which].first);
            live[which] = live.back();
            live.pop_back();
        }
        heap.purgeExpired();
        std::size_t recent = 0;
        for (const auto& [when, size] : freed) {
            recent += ledger.now - when < ledger.delay ? size : 0;
        }
        ASSERT_LE(heap.dirtyBytes(), recent) << step;
    }
    for (const auto& [run, size] : live) {
        heap.free(run);
    }
    EXPECT_GT(heap.dirtyBytes(), 0U);
    EXPECT_LE(heap.purgeExpired(), ledger.delay);
    ledger.now += ledger.delay;
    EXPECT_EQ(heap.purgeExpired(), purgeNever);
    EXPECT_EQ(heap.dirtyBytes(), 0U);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_LE(usage.mapped, 4 * MiB) << "one chunk may stay, without memory";
}

TEST_F(ExtentHeapTest, LooksAtTheTimeByItself) {
    ExtentLedger& ledger = ExtentLedger::the();
    ledger.delay = 100;
    Extents heap;
    std::vector<void*> runs;
    for (int i = 0; i < 100; ++i) {
        runs.push_back(heap.malloc(unit));
    }
    for (std::size_t i = 1; i < 100; ++i) {
        heap.free(runs[i]);
    }
    EXPECT_EQ(heap.dirtyBytes(), 99 * unit);
    ledger.now += 99;
    heap.free(heap.malloc(unit));
    EXPECT_GT(heap.dirtyBytes(), 90 * unit);
    ledger.now += 1;
    heap.free(heap.malloc(unit));
    EXPECT_EQ(heap.dirtyBytes(), unit) << "what has just been freed";
    heap.free(runs[0]);
}

TEST_F(ExtentHeapTest, KeepsNoSurplusUnlessItIsWantedAgain) {
    Extents heap;
    std::vector<void*> runs;
    const auto use = [&] {
        for (int i = 0; i < 100; ++i) {
            runs.push_back(heap.malloc(1 * MiB));
        }
    };
    const auto free = [&] {
        for (void* const run : runs) {
            heap.free(run);
        }
        runs.clear();
    };
    use();
    for (std::size_t used = 99 * MiB; !runs.empty(); used -= 1 * MiB) {
        heap.free(runs.back());
        runs.pop_back();
        ASSERT_LE(heap.dirtyBytes(), std::max(8 * MiB, used / 2 + 1 * MiB));
    }
    EXPECT_GT(heap.dirtyBytes(), 4 * MiB) << "what is kept until its time has come";
    for (int round = 0; round < 6; ++round) {
        use();
        free();
    }
    const std::size_t before = ExtentLedger::the().discarded;
    use();
    free();
    EXPECT_GE(heap.dirtyBytes(), 90 * MiB) << "the program wants that again and again";
    EXPECT_EQ(ExtentLedger::the().discarded, before);
    ExtentLedger::the().now += 250;
    heap.purgeExpired();
    EXPECT_EQ(heap.dirtyBytes(), 0U);
}

TEST_F(ExtentHeapTest, KeepsAMappingThatIsWantedAgain) {
    Extents heap;
    for (int round = 0; round < 4; ++round) {
        heap.free(heap.malloc(28 * MiB));
    }
    const std::size_t calls = ExtentLedger::the().calls;
    for (int round = 0; round < 10; ++round) {
        heap.free(heap.malloc(28 * MiB));
    }
    EXPECT_EQ(ExtentLedger::the().calls, calls);
}

TEST_F(ExtentHeapTest, ReturnsAtOnceOrNever) {
    ExtentLedger& ledger = ExtentLedger::the();
    {
        ledger.delay = purgeAtOnce;
        Extents heap;
        void* const stays = heap.malloc(unit);
        heap.free(heap.malloc(2 * MiB));
        EXPECT_EQ(heap.dirtyBytes(), 0U);
        EXPECT_EQ(ledger.discarded, 2 * MiB);
        heap.free(heap.malloc(20 * MiB));
        EXPECT_EQ(ledger.mapped(), 4 * MiB);
        heap.free(stays);
        EXPECT_EQ(heap.dirtyBytes(), 0U);
    }
    {
        ledger.delay = purgeNever;
        Extents heap;
        heap.free(heap.malloc(2 * MiB));
        heap.free(heap.malloc(20 * MiB));
        ledger.now += 1000000;
        EXPECT_EQ(heap.purgeExpired(), purgeNever);
        EXPECT_EQ(heap.dirtyBytes(), 22 * MiB);
        EXPECT_TRUE(heap.trim(10 * MiB));
        EXPECT_LE(heap.dirtyBytes(), 10 * MiB);
        EXPECT_FALSE(heap.trim(10 * MiB));
        EXPECT_TRUE(heap.trim(0));
        EXPECT_EQ(ledger.mapped(), 0U);
        EXPECT_FALSE(heap.trim(0));
    }
}

TEST_F(ExtentHeapTest, ServesDirtyMemoryWithoutTheSystem) {
    Extents heap;
    std::mt19937 random(5);
    const auto round = [&] {
        std::vector<void*> runs;
        for (int i = 0; i < 50; ++i) {
            runs.push_back(heap.malloc(64 * KiB + random() % (960 * KiB)));
        }
        for (void* const run : runs) {
            heap.free(run);
        }
    };
    for (int i = 0; i < 10; ++i) {
        round();
    }
    const std::size_t maps = ExtentLedger::the().maps;
    const std::size_t discarded = ExtentLedger::the().discarded;
    EXPECT_LE(maps, 40U);
    for (int i = 0; i < 10; ++i) {
        round();
    }
    EXPECT_EQ(ExtentLedger::the().maps, maps);
    EXPECT_EQ(ExtentLedger::the().discarded, discarded);
}

} // namespace
} // namespace heapwright::testing

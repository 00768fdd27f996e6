// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/extent/extent_purge.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/extent_ledger.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace heapwright::testing {
namespace {

constexpr std::size_t unit = 32 * KiB;

/// A rule that counts how often it is told that memory waits.
struct TellingRule : SetDelay {
    static void memoryWaits() noexcept { ++told; }
    static inline int told = 0;
};

/// A system in which something happens once while memory is being given back.
struct InterruptedExtents : LedgerExtents {
    static bool discard(void* pages, std::size_t bytes) noexcept {
        if (meanwhile) {
            std::exchange(meanwhile, nullptr)();
        }
        return LedgerExtents::discard(pages, bytes);
    }
    static inline std::function<void()> meanwhile;
};

/// What the layer does, step by step.
struct Returns : ExtentPurge<unit, FutexLock, TellingRule, InterruptedExtents> {
    using Returned = ExtentPurge<unit, FutexLock, TellingRule, InterruptedExtents>;
    using Returned::addChunk;
    using Returned::addSingle;
    using Returned::Chunk;
    using Returned::dirtyUnits;
    using Returned::freeSingle;
    using Returned::give;
    using Returned::giveBackAll;
    using Returned::Run;
    using Returned::space_;
    using Returned::take;

    ~Returns() { clear(); }
    void clear() {
        while (Chunk* const chunk = space_.removeAny()) {
            unmap(*chunk);
        }
    }
};

class ExtentReturnsTest : public ::testing::Test {
protected:
    void SetUp() override {
        ExtentLedger::begin();
        TellingRule::told = 0;
    }
    void TearDown() override { EXPECT_EQ(ExtentLedger::the().mapped(), 0U); }
};

TEST_F(ExtentReturnsTest, WhatServedOneObjectServesManyForAWhile) {
    Returns memory;
    Returns::Chunk* const chunk = memory.addSingle(240, 1, 0);
    memory.freeSingle(*chunk);
    EXPECT_EQ(memory.dirtyUnits(), 240U);
    EXPECT_EQ(memory.space_.freeUnits(), chunk->units - 1);
    EXPECT_EQ(TellingRule::told, 1);
    ExtentLedger::the().now += 250;
    EXPECT_TRUE(memory.giveBackAll(ExtentLedger::the().now, 250, 0, 128));
    EXPECT_EQ(ExtentLedger::the().mapped(), 0U);
    Returns::Chunk* const huge = memory.addSingle(5000, 1, 0);
    memory.freeSingle(*huge);
    EXPECT_EQ(ExtentLedger::the().mapped(), 0U) << "but not what is larger than chunks are";
}

TEST_F(ExtentReturnsTest, TellsWhenMemoryBeginsToWait) {
    Returns memory;
    ASSERT_TRUE(memory.addChunk(20, 128));
    const Returns::Run runs[] = {memory.take(3, 1, 0, nullptr), memory.take(3, 1, 0, nullptr)};
    memory.give(runs[0]);
    memory.give(runs[1]);
    EXPECT_EQ(TellingRule::told, 1);
    EXPECT_TRUE(memory.giveBackAll(ExtentLedger::the().now, 0, 0, 128));
    EXPECT_FALSE(memory.giveBackAll(ExtentLedger::the().now, 0, 0, 128));
    EXPECT_EQ(ExtentLedger::the().discarded, 6 * unit);
    memory.give(memory.take(1, 1, 0, nullptr));
    EXPECT_EQ(TellingRule::told, 2);
}

TEST_F(ExtentReturnsTest, GivesBackAFewPiecesOnTheWay) {
    Returns memory;
    ASSERT_TRUE(memory.addChunk(127, 128));
    std::vector<Returns::Run> runs;
    for (int i = 0; i < 40; ++i) {
        runs.push_back(memory.take(1, 1, 0, nullptr));
    }
    for (std::size_t i = 0; i < 40; i += 2) {
        memory.give(runs[i]);
    }
    ExtentLedger::the().now += 250;
    memory.give(runs[39]);
    EXPECT_EQ(memory.dirtyUnits(), 17U) << "four pieces of twenty, and the new one";
    EXPECT_FALSE(memory.giveBackAll(ExtentLedger::the().now, 250, 17, 128));
    EXPECT_TRUE(memory.giveBackAll(ExtentLedger::the().now, 250, 10, 128));
    EXPECT_EQ(memory.dirtyUnits(), 10U);
}

class ExtentReturnsMeanwhileTest : public ExtentReturnsTest {
protected:
    void SetUp() override {
        ExtentReturnsTest::SetUp();
        ASSERT_TRUE(memory_.addChunk(127, 128));
        for (int i = 0; i < 40; ++i) {
            runs_.push_back(memory_.take(1, 1, 0, nullptr));
        }
        InterruptedExtents::meanwhile = [this] {
            std::thread([this] {
                for (std::size_t i = 2; i < 40; i += 2) {
                    memory_.give(runs_[i]);
                }
            }).join();
        };
    }
    void TearDown() override {
        memory_.clear();
        ExtentReturnsTest::TearDown();
    }

    Returns memory_;
    std::vector<Returns::Run> runs_;
};

TEST_F(ExtentReturnsMeanwhileTest, WhoFindsSomebodyAtItLeavesItToHim) {
    ExtentLedger::the().delay = purgeAtOnce;
    memory_.give(runs_[0]);
    EXPECT_EQ(memory_.dirtyUnits(), 0U);
    EXPECT_EQ(ExtentLedger::the().discarded, 20 * unit);
}

TEST_F(ExtentReturnsMeanwhileTest, AlsoIfHeWasToGiveBackSomethingElse) {
    memory_.give(runs_[0]);
    ExtentLedger::the().delay = purgeAtOnce;
    EXPECT_TRUE(memory_.giveBackAll(ExtentLedger::the().now, 0, 0, 128));
    EXPECT_EQ(memory_.dirtyUnits(), 0U);
}

TEST_F(ExtentReturnsTest, WhatTheSystemDoesNotTakeStaysAndServes) {
    Returns memory;
    ASSERT_TRUE(memory.addChunk(20, 128));
    const Returns::Run run = memory.take(5, 1, 0, nullptr);
    memory.give(run);
    ExtentLedger::the().refuse = ExtentLedger::all;
    EXPECT_FALSE(memory.giveBackAll(ExtentLedger::the().now, 0, 0, 128));
    EXPECT_EQ(memory.dirtyUnits(), 5U);
    EXPECT_EQ(memory.take(5, 1, 0, nullptr).first, run.first);
    ExtentLedger::the().refuse = 0;
}

} // namespace
} // namespace heapwright::testing

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

struct HugeRule : SetDelay {
    [[nodiscard]] static bool hugePages() noexcept { return true; }
};
struct HugeExtents : ExtentPurge<unit, FutexLock, HugeRule, LedgerExtents> {
    ~HugeExtents() {
        while (Chunk* const chunk = memory.space.removeAny()) {
            memory.unmap(*chunk);
        }
    }
    /// Single units until `units` are in use.
    void fillTo(std::size_t units) {
        while (runs.size() < units) {
            Run run = allocate(1, 1, 0, nullptr);
            if (run.chunk == nullptr) {
                ASSERT_TRUE(memory.addChunk(1, memory.usualUnits()));
                run = allocate(1, 1, 0, nullptr);
            }
            runs.push_back(run);
        }
    }
    std::vector<Run> runs;
};

/// A rule that counts how often it hears that memory waits.
struct TellingRule : SetDelay {
    static void memoryWaits(bool first, std::size_t bytes) noexcept {
        told += first ? 1 : 0;
        waiting = bytes;
    }
    static inline int told = 0;
    static inline std::size_t waiting = 0;
};

/// A system in which something happens once while memory is being returned.
struct InterruptedExtents : LedgerExtents {
    static bool discard(void* pages, std::size_t bytes) noexcept {
        if (meanwhile) {
            std::exchange(meanwhile, nullptr)();
        }
        return LedgerExtents::discard(pages, bytes);
    }
    static inline std::function<void()> meanwhile;
};

struct Extents : ExtentPurge<unit, FutexLock, TellingRule, InterruptedExtents> {
    ~Extents() { clear(); }
    void clear() {
        while (Chunk* const chunk = memory.space.removeAny()) {
            memory.unmap(*chunk);
        }
    }
};

class ExtentPurgeTest : public ::testing::Test {
protected:
    void SetUp() override {
        ExtentLedger::begin();
        TellingRule::told = 0;
    }
    void TearDown() override { EXPECT_EQ(ExtentLedger::the().mapped(), 0U); }
};

TEST_F(ExtentPurgeTest, RequestsHugePagesWhereMemoryIsDenselyUsed) {
    ExtentLedger::the().resident = 7;
    HugeExtents extents;
    extents.fillTo(8 * 63 - 1);
    EXPECT_EQ(ExtentLedger::the().huge, 0U) << "a block would be more than an eighth";
    extents.fillTo(2000);
    EXPECT_GT(ExtentLedger::the().huge, 1500 * unit / 2);
    EXPECT_LE(extents.memory.space.hugeClean(), 2000 / 8);
}

TEST_F(ExtentPurgeTest, RequestsNoneWhereItIsNot) {
    ExtentLedger::the().resident = 6;
    HugeExtents extents;
    extents.fillTo(2000);
    EXPECT_EQ(ExtentLedger::the().huge, 0U);
}

TEST_F(ExtentPurgeTest, DeclinesHugePagesOfBlocksThatItPurges) {
    ExtentLedger::the().resident = 8;
    HugeExtents extents;
    extents.fillTo(2000);
    const std::size_t wished = ExtentLedger::the().huge;
    for (std::size_t i = 0; i < extents.runs.size(); ++i) {
        if (i % 16 != 0) {
            extents.release(extents.runs[i]);
        }
    }
    EXPECT_TRUE(extents.purgeAll(ExtentLedger::the().now, 0, 0, 0));
    EXPECT_EQ(ExtentLedger::the().declined, wished);
    EXPECT_EQ(extents.memory.space.hugeClean(), 0U);
}

TEST_F(ExtentPurgeTest, AChunkOfOneObjectServesManyForSomeTime) {
    Extents extents;
    Extents::Chunk* const chunk = extents.memory.addSingle(240, 1, 0);
    extents.freeSingle(*chunk);
    EXPECT_EQ(extents.dirtyUnits(), 240U);
    EXPECT_EQ(extents.memory.space.freeUnits(), chunk->units - 1);
    EXPECT_EQ(TellingRule::told, 1);
    ExtentLedger::the().now += 250;
    EXPECT_TRUE(extents.purgeAll(ExtentLedger::the().now, 250, 0, 128));
    EXPECT_EQ(ExtentLedger::the().mapped(), 0U);
    Extents::Chunk* const huge = extents.memory.addSingle(5000, 1, 0);
    extents.freeSingle(*huge);
    EXPECT_EQ(ExtentLedger::the().mapped(), 0U) << "but not what is larger than chunks are";
}

TEST_F(ExtentPurgeTest, ReportsWhenMemoryBecomesPurgeable) {
    Extents extents;
    ASSERT_TRUE(extents.memory.addChunk(20, 128));
    const Extents::Run runs[] = {extents.allocate(3, 1, 0, nullptr),
                                 extents.allocate(3, 1, 0, nullptr)};
    extents.release(runs[0]);
    extents.release(runs[1]);
    EXPECT_EQ(TellingRule::told, 1);
    EXPECT_EQ(TellingRule::waiting, 6 * unit);
    EXPECT_TRUE(extents.purgeAll(ExtentLedger::the().now, 0, 0, 128));
    EXPECT_FALSE(extents.purgeAll(ExtentLedger::the().now, 0, 0, 128));
    EXPECT_EQ(ExtentLedger::the().discarded, 6 * unit);
    extents.release(extents.allocate(1, 1, 0, nullptr));
    EXPECT_EQ(TellingRule::told, 2);
}

TEST_F(ExtentPurgeTest, PurgesAFewPiecesAtEachRelease) {
    Extents extents;
    ASSERT_TRUE(extents.memory.addChunk(127, 128));
    std::vector<Extents::Run> runs;
    for (int i = 0; i < 40; ++i) {
        runs.push_back(extents.allocate(1, 1, 0, nullptr));
    }
    for (std::size_t i = 0; i < 40; i += 2) {
        extents.release(runs[i]);
    }
    ExtentLedger::the().now += 250;
    extents.release(runs[39]);
    EXPECT_EQ(extents.dirtyUnits(), 17U) << "four pieces of twenty, and the new one";
    EXPECT_FALSE(extents.purgeAll(ExtentLedger::the().now, 250, 17, 128));
    EXPECT_TRUE(extents.purgeAll(ExtentLedger::the().now, 250, 10, 128));
    EXPECT_EQ(extents.dirtyUnits(), 10U);
}

class ExtentPurgeMeanwhileTest : public ExtentPurgeTest {
protected:
    void SetUp() override {
        ExtentPurgeTest::SetUp();
        ASSERT_TRUE(extents_.memory.addChunk(127, 128));
        for (int i = 0; i < 40; ++i) {
            runs_.push_back(extents_.allocate(1, 1, 0, nullptr));
        }
        InterruptedExtents::meanwhile = [this] {
            std::thread([this] {
                for (std::size_t i = 2; i < 40; i += 2) {
                    extents_.release(runs_[i]);
                }
            }).join();
        };
    }
    void TearDown() override {
        extents_.clear();
        ExtentPurgeTest::TearDown();
    }

    Extents extents_;
    std::vector<Extents::Run> runs_;
};

TEST_F(ExtentPurgeMeanwhileTest, LeavesItsPiecesToAThreadThatPurges) {
    ExtentLedger::the().delay = purgeAtOnce;
    extents_.release(runs_[0]);
    EXPECT_EQ(extents_.dirtyUnits(), 0U);
    EXPECT_EQ(ExtentLedger::the().discarded, 20 * unit);
}

TEST_F(ExtentPurgeMeanwhileTest, LeavesItsPiecesToAThreadThatPurgesAll) {
    extents_.release(runs_[0]);
    ExtentLedger::the().delay = purgeAtOnce;
    EXPECT_TRUE(extents_.purgeAll(ExtentLedger::the().now, 0, 0, 128));
    EXPECT_EQ(extents_.dirtyUnits(), 0U);
}

TEST_F(ExtentPurgeTest, MemoryThatTheSystemRefusesServesAgain) {
    Extents extents;
    ASSERT_TRUE(extents.memory.addChunk(20, 128));
    const Extents::Run run = extents.allocate(5, 1, 0, nullptr);
    extents.release(run);
    ExtentLedger::the().refuse = ExtentLedger::all;
    EXPECT_FALSE(extents.purgeAll(ExtentLedger::the().now, 0, 0, 128));
    EXPECT_EQ(extents.dirtyUnits(), 5U);
    EXPECT_EQ(extents.allocate(5, 1, 0, nullptr).first, run.first);
    ExtentLedger::the().refuse = 0;
}

} // namespace
} // namespace heapwright::testing

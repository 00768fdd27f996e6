// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/map/closed_runs.hpp>

#include <heapwright/sync/futex_lock.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <sys/mman.h>
#include <vector>

namespace heapwright::testing {
namespace {

constexpr std::size_t gapBytes = 64 * KiB;
constexpr std::size_t runBytes = 256 * KiB;

using Runs = ClosedRuns<FutexLock, 2, 8>;

/// A run and the gap behind it.
class ClosedRunsTest : public ::testing::Test {
protected:
    ClosedRunsTest() = default;
    ClosedRunsTest(const ClosedRunsTest&) = delete;
    ClosedRunsTest& operator=(const ClosedRunsTest&) = delete;
    ~ClosedRunsTest() override {
        runs.clear(gapBytes);
        for (void* const run : mapped_) {
            platform::unmapPages(run, runBytes);
        }
    }

    void* map() {
        mapped_.push_back(platform::mapPagesAt(runBytes, gapBytes, 0));
        return mapped_.back();
    }
    static void* gapOf(void* run) { return forward(run, runBytes - gapBytes); }
    static void touch(void* place) { *static_cast<volatile char*>(place) = 1; }

    Runs runs;

private:
    std::vector<void*> mapped_;
};

TEST_F(ClosedRunsTest, ClosesAGapUntilItIsOpened) {
    void* const run = map();
    runs.close(gapOf(run), gapBytes);
    touch(run);
    EXPECT_DEATH(touch(gapOf(run)), "");
    EXPECT_TRUE(runs.open(gapOf(run), gapBytes));
    touch(gapOf(run));
    EXPECT_TRUE(runs.open(gapOf(run), gapBytes)); // as it is
}

TEST_F(ClosedRunsTest, LeavesGapsOpenBeyondItsMost) {
    void* const gaps[] = {gapOf(map()), gapOf(map()), gapOf(map())};
    for (void* const gap : gaps) {
        runs.close(gap, gapBytes);
    }
    EXPECT_DEATH(touch(gaps[1]), "");
    touch(gaps[2]);
    EXPECT_TRUE(runs.open(gaps[0], gapBytes));
    runs.close(gaps[2], gapBytes); // there is room again
    EXPECT_DEATH(touch(gaps[2]), "");
}

TEST_F(ClosedRunsTest, ReleasesWaitingRunsInTheirOrder) {
    void* const first = map();
    void* const second = map();
    for (void* const run : {first, second}) {
        runs.close(gapOf(run), gapBytes);
        ASSERT_TRUE(runs.letWait(run, runBytes, gapOf(run)));
        EXPECT_DEATH(touch(run), "");
    }
    std::vector<void*> gone;
    const auto give = [&gone](void* run) {
        touch(run);
        gone.push_back(run);
    };
    EXPECT_FALSE(runs.releaseDownTo(2 * runBytes, give));
    EXPECT_TRUE(runs.releaseDownTo(runBytes, give));
    EXPECT_EQ(gone, (std::vector<void*>{first}));
    EXPECT_TRUE(runs.releaseDownTo(0, give));
    EXPECT_EQ(gone, (std::vector<void*>{first, second}));
}

TEST_F(ClosedRunsTest, ReportsARunAsWaitingUntilItsRelease) {
    void* const run = map();
    EXPECT_FALSE(runs.waits(run));
    runs.close(gapOf(run), gapBytes);
    EXPECT_FALSE(runs.waits(run)) << "only its gap is closed";
    ASSERT_TRUE(runs.letWait(run, runBytes, gapOf(run)));
    EXPECT_TRUE(runs.waits(run));
    MemoryUsage usage;
    runs.measure(usage);
    EXPECT_EQ(usage.held, runBytes);
    EXPECT_EQ(usage.heldCount, 1U);
    EXPECT_TRUE(runs.releaseDownTo(0, [this](void* left) { EXPECT_FALSE(runs.waits(left)); }));
    runs.measure(usage);
    EXPECT_EQ(usage.heldCount, 1U) << "nothing has come to it";
}

TEST_F(ClosedRunsTest, RefusesRunsDuringAFork) {
    void* const waiting = map();
    void* const run = map();
    ASSERT_TRUE(runs.letWait(waiting, runBytes, gapOf(waiting)));
    runs.close(gapOf(run), gapBytes);
    runs.beforeFork();
    EXPECT_FALSE(runs.letWait(run, runBytes, gapOf(run)));
    EXPECT_FALSE(runs.waits(run));
    touch(run);
    touch(gapOf(run));
    EXPECT_FALSE(runs.releaseDownTo(0, [](void* /*run*/) { FAIL(); }));
    runs.afterForkInParent();
    EXPECT_TRUE(runs.letWait(run, runBytes, gapOf(run)));
    EXPECT_TRUE(runs.waits(run));
}

TEST_F(ClosedRunsTest, HaveNoMoreWaitThanThereArePlaces) {
    std::vector<void*> all;
    for (int each = 0; each < 8; ++each) {
        all.push_back(map());
        ASSERT_TRUE(runs.letWait(all.back(), runBytes, gapOf(all.back())));
    }
    void* const more = map();
    EXPECT_FALSE(runs.letWait(more, runBytes, gapOf(more)));
    touch(more);
    std::vector<void*> gone;
    EXPECT_TRUE(runs.releaseDownTo(7 * runBytes, [&gone](void* run) { gone.push_back(run); }));
    EXPECT_EQ(gone, (std::vector<void*>{all.front()}));
    EXPECT_TRUE(runs.letWait(more, runBytes, gapOf(more)));
}

TEST_F(ClosedRunsTest, KeepsARunThatCannotBeOpened) {
    void* const run = map();
    ASSERT_TRUE(runs.letWait(run, runBytes, gapOf(run)));
    platform::unmapPages(run, runBytes); // no call can open this
    EXPECT_FALSE(runs.releaseDownTo(0, [](void* /*run*/) { FAIL(); }));
    EXPECT_TRUE(runs.waits(run));
    ASSERT_EQ(::mmap(run, runBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              run);
    EXPECT_TRUE(runs.releaseDownTo(0, [run](void* left) { EXPECT_EQ(left, run); }));
    touch(run);
}

TEST_F(ClosedRunsTest, LeavesAGapThatCannotBeOpenedClosed) {
    void* const run = map();
    runs.close(gapOf(run), gapBytes);
    platform::unmapPages(run, runBytes);
    EXPECT_FALSE(runs.open(gapOf(run), gapBytes));
    EXPECT_FALSE(runs.open(gapOf(run), gapBytes)) << "it is known to be closed still";
    ASSERT_EQ(::mmap(run, runBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              run);
    EXPECT_TRUE(runs.open(gapOf(run), gapBytes));
    touch(gapOf(run));
}

} // namespace
} // namespace heapwright::testing

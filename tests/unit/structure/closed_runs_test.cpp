// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/closed_runs.hpp>

#include <heapwright/sync/futex_lock.hpp>

#include <gtest/gtest.h>

#include <cstring>
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

TEST_F(ClosedRunsTest, LetsRunsWaitClosedAndGoInTheOrderInWhichTheyCame) {
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

} // namespace
} // namespace heapwright::testing

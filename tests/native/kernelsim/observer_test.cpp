// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "kernelsim/observer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

extern "C" {
// As the compiler's instrumentation calls them.
void __tsan_read8(void* place);
void __tsan_write8(void* place);
void __tsan_read_range(void* place, std::size_t bytes);
void __sanitizer_cov_trace_pc();
}

namespace heapwright::kernelsim {
namespace {

struct alignas(64) Line {
    std::array<std::uint64_t, 8> words{};
};

class KernelObserver : public testing::Test {
protected:
    KernelObserver() {
        observer::reset();
        observer::watch(lines_.data(), sizeof(lines_));
    }
    ~KernelObserver() override { observer::leave(); }

    std::array<Line, 4> lines_;
};

TEST_F(KernelObserver, CountsAMoveWhenAnotherProcessorHasTheLine) {
    observer::enter(0);
    __tsan_write8(&lines_[0]); // from memory, not from a processor
    __tsan_read8(&lines_[0]);
    observer::enter(1);
    __tsan_read8(&lines_[0].words[7]); // moves, and both have it
    __tsan_read8(&lines_[0]);
    observer::enter(2);
    __tsan_write8(&lines_[0]); // moves, and the others lose it
    observer::enter(0);
    __tsan_read8(&lines_[0]);  // moves again
    __tsan_write8(&lines_[0]); // has it: only invalidates
    const Counts counts = observer::counts();
    EXPECT_EQ(counts.transfers, (Counts::ByProcessor{1, 1, 1}));
    EXPECT_EQ(counts.invalidations, 2U);
    EXPECT_EQ(counts.instructions, (Counts::ByProcessor{4, 2, 1}));
}

TEST_F(KernelObserver, FollowsEachLineOfARange) {
    observer::enter(0);
    __tsan_write8(&lines_[1]);
    __tsan_write8(&lines_[2]);
    observer::enter(1);
    __tsan_read_range(&lines_[1], 2 * sizeof(Line));
    std::uint64_t elsewhere = 0;
    __tsan_write8(&elsewhere); // not watched
    EXPECT_EQ(observer::counts().transfers, (Counts::ByProcessor{0, 2}));
    EXPECT_EQ(observer::counts().instructions[1], 2U);
}

TEST_F(KernelObserver, SeparatesMovesForUsersOfObjects) {
    observer::enter(0);
    __tsan_write8(&lines_[0]);
    observer::leave();
    __tsan_write8(&lines_[0]); // does not count
    observer::useObject(&lines_[0], 3);
    const Counts counts = observer::counts();
    EXPECT_EQ(counts.userTransfers, 1U);
    EXPECT_EQ(counts.transfers, Counts::ByProcessor{});
    EXPECT_EQ(counts.instructions, Counts::ByProcessor{1});
}

TEST_F(KernelObserver, CountsSharedLocksAndTheirHandOvers) {
    for (const std::size_t processor : {0U, 0U, 1U, 0U}) {
        observer::enter(processor);
        for (std::size_t lock = 0; lock < 2; ++lock) {
            observer::tookLock(&lines_[lock]);
            __sanitizer_cov_trace_pc();
            observer::releasedLock(&lines_[lock]);
        }
    }
    observer::leave();
    observer::markOwn(&lines_[1], sizeof(Line));
    const Counts counts = observer::counts();
    EXPECT_EQ(counts.lockTakes, 4U);
    EXPECT_EQ(counts.handOvers, 2U);
    EXPECT_EQ(counts.ownLockTakes, 4U);
    EXPECT_EQ(counts.underOneLock, 4U * 2);
    EXPECT_EQ(counts.path, counts.instructions[0]);
    EXPECT_EQ(counts.time, counts.path + 2 * instructionsOfTransfer);
}

TEST_F(KernelObserver, BoundsTimeByTheBusiestLock) {
    for (const std::size_t processor : {0U, 1U, 2U, 3U}) {
        observer::enter(processor);
        observer::tookLock(&lines_[0]);
        for (int each = 0; each < 10; ++each)
            __sanitizer_cov_trace_pc();
        observer::releasedLock(&lines_[0]);
    }
    const Counts counts = observer::counts();
    EXPECT_EQ(counts.path, counts.underOneLock);
    EXPECT_EQ(counts.path, 4U * 11);
    EXPECT_EQ(counts.instructions[2], 12U);
}

} // namespace
} // namespace heapwright::kernelsim

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Each thing that an allocator can do wrong is found, and what it does right is not.
#include "replayer/run/check.hpp"

#include <cstring>
#include <gtest/gtest.h>

namespace heapwright::replayer {
namespace {

using trace::Routine;

class CheckTest : public testing::Test {
protected:
    std::uint64_t found(FaultKind wrong) const {
        return check.findings().count(static_cast<std::size_t>(wrong));
    }
    std::uint64_t all() const { return check.findings().count(); }

    alignas(4096) char memory[16384] = {};
    Check check;
};

TEST_F(CheckTest, AGoodLifeIsFoundGood) {
    check.allocated(Routine::calloc, memory, 100, 0);
    check.reallocating(memory, 100);
    std::memcpy(memory + 4096, memory, 100);
    check.reallocated(memory + 4096, memory, 100, 5000);
    check.allocated(Routine::malloc, memory, 4096, 0); // the old place, again
    check.allocated(Routine::memalign, memory + 12288, 0, 4096);
    check.freeing(memory + 4096, 5000);
    check.freeing(memory, 4096);
    check.freeing(memory + 12288, 0);
    check.freeing(nullptr, 0);
    EXPECT_EQ(all(), 0U);
}

TEST_F(CheckTest, ContentsThatChange) {
    check.allocated(Routine::malloc, memory, 100, 0);
    memory[99] ^= 1;
    check.freeing(memory, 100);
    EXPECT_EQ(found(FaultKind::contents), 1U);
    EXPECT_EQ(all(), 1U);
    EXPECT_EQ(check.findings().kept()[0].at, 99U);
}

TEST_F(CheckTest, ContentsThatAReallocLoses) {
    check.allocated(Routine::malloc, memory, 100, 0);
    check.reallocating(memory, 100);
    std::memcpy(memory + 4096, memory, 50); // half of them
    check.reallocated(memory + 4096, memory, 100, 200);
    EXPECT_EQ(found(FaultKind::moved), 1U);
    EXPECT_EQ(all(), 1U);
}

TEST_F(CheckTest, AShrunkObjectNeedKeepNoMoreThanItHas) {
    check.allocated(Routine::malloc, memory, 100, 0);
    check.reallocating(memory, 100);
    std::memcpy(memory + 4096, memory, 10);
    check.reallocated(memory + 4096, memory, 100, 10);
    EXPECT_EQ(all(), 0U);
}

TEST_F(CheckTest, MemoryOfCallocThatIsNotZero) {
    memory[30] = 1;
    check.allocated(Routine::calloc, memory, 31, 0);
    EXPECT_EQ(found(FaultKind::zeroes), 1U);
    EXPECT_EQ(all(), 1U);
}

TEST_F(CheckTest, AddressesThatAreNotAligned) {
    check.allocated(Routine::malloc, memory + 8, 16, 0); // a type of 16 bytes may need 16
    check.allocated(Routine::malloc, memory + 40, 8, 0); // one of 8 needs 8
    check.allocated(Routine::alignedAlloc, memory + 64, 64, 128);
    check.allocated(Routine::valloc, memory + 1024, 1, 0);
    EXPECT_EQ(found(FaultKind::alignment), 3U);
    EXPECT_EQ(all(), 3U);
}

TEST_F(CheckTest, ObjectsThatOverlap) {
    check.allocated(Routine::malloc, memory, 4096, 0);
    check.allocated(Routine::malloc, memory + 4088, 8, 0); // its last bytes
    EXPECT_EQ(found(FaultKind::overlap), 1U);
    check.allocated(Routine::malloc, memory + 4096, 100, 0); // behind it
    EXPECT_EQ(all(), 1U);
}

TEST_F(CheckTest, AnObjectOfNoBytesTakesUpAnAddress) {
    check.allocated(Routine::malloc, memory, 0, 0);
    check.allocated(Routine::malloc, memory, 0, 0);
    EXPECT_EQ(found(FaultKind::overlap), 1U);
}

TEST_F(CheckTest, AfterAFailedReallocTheObjectIsStillThere) {
    check.allocated(Routine::malloc, memory, 64, 0);
    check.reallocating(memory, 64);
    check.reallocFailed(memory, 64);
    check.freeing(memory, 64);
    EXPECT_EQ(all(), 0U);
    check.allocated(Routine::malloc, memory, 64, 0);
    check.reallocating(memory, 64);
    check.reallocFailed(memory, 64);
    check.allocated(Routine::malloc, memory + 32, 16, 0);
    EXPECT_EQ(found(FaultKind::overlap), 1U);
}

TEST_F(CheckTest, ManyFindingsAreCountedAndAFewKept) {
    for (int at = 0; at < 100; ++at) {
        check.allocated(Routine::malloc, memory, 8, 0);
    }
    EXPECT_EQ(all(), 99U);
    EXPECT_EQ(check.findings().kept().size(), 8U);
}

} // namespace
} // namespace heapwright::replayer

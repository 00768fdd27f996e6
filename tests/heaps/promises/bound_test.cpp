// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What granary holds of each size class, over histories that are made to break the bound. Each step
// is checked. The same check finds heaps that break it. The threads are real ones.
#include "account.hpp"
#include "histories.hpp"
#include "stacks.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace heapwright::testing::promises {
namespace {

template <class Stack>
class PromisedBound : public ::testing::Test {
protected:
    static void expectHolds(const Author& author, const char* what) {
        const Verdict verdict = Account<Stack>::carryOut(author);
        EXPECT_LE(verdict.tightest, 1.0) << what;
        EXPECT_LE(verdict.aside, 1.0) << what << ": in caches";
        EXPECT_EQ(verdict.left, 0U) << what << ": objects that nobody has";
    }
};
TYPED_TEST_SUITE(PromisedBound, Bounded);

TYPED_TEST(PromisedBound, HoldsAtRandom) {
    for (const std::uint32_t seed : {1U, 2U, 3U, 20261122U}) {
        this->expectHolds(atRandom(seed, {16, 48, 96, 500, 1200, 4000}, 20000), "at random");
    }
}

TYPED_TEST(PromisedBound, HoldsBetweenProducerAndConsumer) {
    for (const std::size_t size : {16U, 64U, 400U, 2000U}) {
        this->expectHolds(producerAndConsumer(size, 64000 / size, 60), "producer and consumer");
    }
}

TYPED_TEST(PromisedBound, HoldsWhereMemoryGoesRound) {
    for (const std::size_t size : {16U, 96U, 1000U}) {
        this->expectHolds(roundRobin(size, 200000 / size, 4 * threads), "round robin");
    }
}

TYPED_TEST(PromisedBound, HoldsWhereOneObjectIsLeftInEachSuperblock) {
    for (const std::size_t size : {32U, 208U, 1008U}) {
        for (const std::size_t stride : {4U, 20U, 100U}) {
            this->expectHolds(oneLeftInEach(size, 300000 / size, stride, 2 * threads), "one left");
        }
    }
}

TYPED_TEST(PromisedBound, HoldsWhereOwnersAreIdle) {
    for (const std::size_t size : {16U, 160U, 2000U}) {
        this->expectHolds(idleOwners(size, 300000 / size, 3), "idle owners");
    }
}

TYPED_TEST(PromisedBound, HoldsWhereThreadsEnd) {
    for (const std::size_t size : {16U, 80U, 700U}) {
        for (const std::size_t stride : {2U, 7U, 50U}) {
            this->expectHolds(endingThreads(size, 200000 / size, stride, 40), "threads that end");
        }
    }
}

TYPED_TEST(PromisedBound, HoldsWhereSuccessorsReplaceObjects) {
    for (const std::size_t size : {16U, 80U, 700U}) {
        for (const std::size_t rounds : {6U, 40U}) {
            this->expectHolds(handedOn(7, size, 200000 / size, rounds), "handed on");
        }
    }
}

TYPED_TEST(PromisedBound, HoldsClassByClass) {
    this->expectHolds(classByClass({16, 64, 208, 1008, 4000}, 300000, 2 * threads), "by class");
}

TYPED_TEST(PromisedBound, HoldsWhereAClassLivesOnAnother) {
    for (const std::size_t stride : {20U, 60U}) {
        this->expectHolds(fromClassToClass(64, 320, 6000000, stride, 12), "from class to class");
    }
}

/// What many threads hold, against what the same history brings one to hold.
TYPED_TEST(PromisedBound, HoldsAgainstOneHeap) {
    for (const std::size_t size : {16U, 96U, 1000U}) {
        for (const Author& author :
             {producerAndConsumer(size, 64000 / size, 60), roundRobin(size, 300000 / size, 24),
              idleOwners(size, 300000 / size, 3), endingThreads(size, 200000 / size, 7, 40)}) {
            const Verdict many = Account<TypeParam>::carryOut(author);
            const Verdict alone = Account<TypeParam>::carryOut(author, true);
            EXPECT_LE(static_cast<double>(many.most), Account<TypeParam>::boundByOne(size, alone));
        }
    }
}

template <class Stack>
class PromisedBoundMutation : public ::testing::Test {};
using Mutants = ::testing::Types<GranaryStack<KeepsAll, CleanRunningLines, OwnHeap<64>>,
                                 HoardStack<KeepsAll, CleanLines>>;
TYPED_TEST_SUITE(PromisedBoundMutation, Mutants);

/// The check finds a heap that gives nothing back, by each history in which owners do not use what
/// they have.
TYPED_TEST(PromisedBoundMutation, AHeapThatKeepsAllIsFound) {
    using Mutant = Account<TypeParam>;
    for (const std::size_t size : {64U, 1000U}) {
        EXPECT_GT(Mutant::carryOut(roundRobin(size, 1500000 / size, 24)).tightest, 1.0);
        EXPECT_GT(Mutant::carryOut(idleOwners(size, 1500000 / size, 1)).tightest, 1.0);
    }
    const Author author = roundRobin(1000, 8000, 24);
    const Verdict alone = Mutant::carryOut(author, true);
    EXPECT_GT(static_cast<double>(Mutant::carryOut(author).most), Mutant::boundByOne(1000, alone));
}

} // namespace
} // namespace heapwright::testing::promises

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A search for the worst history. It changes a bad one in one place after the other, and keeps each
// change that is not better for the heap. What it comes to stays within the bound; where a heap
// gives nothing back, it finds how to break it.
#include "account.hpp"
#include "histories.hpp"
#include "stacks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace heapwright::testing::promises {
namespace {

/// One move: A thread takes many objects of a size, or frees those of another thread except some at
/// a fixed distance, or ends.
struct Move {
    enum class Kind : std::uint8_t { take, give, end };
    Kind kind;
    std::uint8_t thread;
    std::uint8_t other; ///< whose objects are freed
    std::uint8_t size;  ///< which of the sizes
    std::uint16_t number;
    std::uint16_t stride; ///< 0: none stays
};

constexpr std::array<std::size_t, 3> sizes = {64, 320, 1008};
constexpr std::size_t moves = 24;

Move drawn(std::mt19937& random) {
    constexpr std::array kinds = {Move::Kind::take, Move::Kind::take, Move::Kind::take,
                                  Move::Kind::give, Move::Kind::give, Move::Kind::end};
    constexpr std::array<std::uint16_t, 6> strides = {0, 0, 2, 8, 30, 100};
    return {kinds[random() % kinds.size()],
            static_cast<std::uint8_t>(random() % threads),
            static_cast<std::uint8_t>(random() % threads),
            static_cast<std::uint8_t>(random() % sizes.size()),
            static_cast<std::uint16_t>(1 + random() % 1200),
            strides[random() % strides.size()]};
}

/// What moves come to. All objects that are live at their end are freed.
Author written(const std::vector<Move>& plan) {
    Author author;
    std::array<std::array<std::vector<std::uint32_t>, sizes.size()>, threads> has;
    for (const Move& move : plan) {
        if (move.kind == Move::Kind::end) {
            author.end(move.thread);
            continue;
        }
        std::vector<std::uint32_t>& owned =
            has[move.kind == Move::Kind::take ? move.thread : move.other][move.size];
        if (move.kind == Move::Kind::take) {
            const auto more = author.take(move.thread, sizes[move.size], move.number);
            owned.insert(owned.end(), more.begin(), more.end());
        } else if (move.stride == 0) {
            author.give(move.thread, owned);
            owned.clear();
        } else {
            owned = author.giveBut(move.thread, owned, move.stride);
        }
    }
    for (const auto& thread : has) {
        for (const auto& owned : thread) {
            author.give(0, owned);
        }
    }
    return author;
}

/// The part of its bound that the worst history found comes to.
template <class Stack>
double worst(std::uint32_t seed, unsigned tries) {
    std::mt19937 random(seed);
    std::vector<Move> best;
    for (std::size_t each = 0; each < moves; ++each) {
        best.push_back(drawn(random));
    }
    double most = Account<Stack>::carryOut(written(best)).tightest;
    for (unsigned attempt = 0; attempt < tries && most <= 1; ++attempt) {
        std::vector<Move> plan = best;
        for (auto changes = 1 + random() % 3; changes > 0; --changes) {
            const std::size_t at = random() % moves;
            if (random() % 4 == 0) {
                std::swap(plan[at], plan[random() % moves]);
            } else {
                plan[at] = drawn(random);
            }
        }
        const double found = Account<Stack>::carryOut(written(plan)).tightest;
        if (found >= most) {
            most = found;
            best = plan;
        }
    }
    return most;
}

template <class Stack>
class PromisedBoundSearch : public ::testing::Test {};
TYPED_TEST_SUITE(PromisedBoundSearch, Bounded);

TYPED_TEST(PromisedBoundSearch, FindsNothingBeyondIt) {
    double most = 0;
    for (const std::uint32_t seed : {1U, 2U, 3U}) {
        most = std::max(most, worst<TypeParam>(seed, 150));
    }
    EXPECT_LE(most, 1.0);
    ::testing::Test::RecordProperty("tightest", std::to_string(most));
}

TEST(PromisedBoundSearchMutation, FindsAHeapThatKeepsAll) {
    EXPECT_GT((worst<HoardStack<KeepsAll, CleanLines>>(1, 400)), 1.0);
    EXPECT_GT((worst<GranaryStack<KeepsAll, CleanRunningLines, OwnHeap<64>>>(1, 2000)), 1.0);
}

} // namespace
} // namespace heapwright::testing::promises

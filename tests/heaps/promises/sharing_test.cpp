// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// False sharing that an allocator causes, from addresses. The allocator returns an object on a
// cache line with a live object of another thread. Active sharing divides a line between two
// requesting threads. Passive sharing serves one thread with an object that the other one freed.
// Both begin with such an object, and none is ever given out; a heap that does not keep its lines
// clean is found.
#include "histories.hpp"
#include "player.hpp"
#include "stacks.hpp"

#include <heapwright/core/address.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace heapwright::testing::promises {
namespace {

/// The threads whose objects live on each line. A thread that comes after one that has ended is
/// another. Objects of ended threads count too, or not.
class SharedLines {
public:
    explicit SharedLines(bool forgetsEnded) : forgetsEnded_(forgetsEnded) {}

    void taken(const Step& step, const void* object) {
        const std::uint32_t thread = identity(step.thread);
        Address line = 0;
        bool shared = false;
        for (line = addressOf(object) / 64; line <= lastLine(object, step.size); ++line) {
            std::vector<std::uint32_t>& its = lines_[line];
            for (const std::uint32_t other : its) {
                shared = shared || (other != thread && (!forgetsEnded_ || isRunning(other)));
            }
            its.push_back(thread);
        }
        shared_ += shared ? 1U : 0U;
        ++taken_;
        objects_[object] = {step.size, thread};
    }
    void giving(const Step& /*step*/, const void* object) {
        const Object its = objects_[object];
        for (Address line = addressOf(object) / 64; line <= lastLine(object, its.size); ++line) {
            std::vector<std::uint32_t>& all = lines_[line];
            all.erase(std::find(all.begin(), all.end(), its.thread));
        }
        objects_.erase(object);
    }
    void given(const Step& /*step*/, std::size_t /*size*/) {}
    void ended(std::size_t thread) { ++lives_[thread]; }
    void paused() {}

    [[nodiscard]] std::size_t shared() const { return shared_; }
    [[nodiscard]] std::size_t taken() const { return taken_; }

private:
    struct Object {
        std::size_t size = 0;
        std::uint32_t thread = 0;
    };

    [[nodiscard]] std::uint32_t identity(std::size_t thread) const {
        return static_cast<std::uint32_t>(lives_[thread] * threads + thread);
    }
    [[nodiscard]] bool isRunning(std::uint32_t thread) const {
        return identity(thread % threads) == thread;
    }
    [[nodiscard]] static Address lastLine(const void* object, std::size_t size) {
        return (addressOf(object) + size - 1) / 64;
    }

    bool forgetsEnded_;
    std::unordered_map<Address, std::vector<std::uint32_t>> lines_;
    std::unordered_map<const void*, Object> objects_;
    std::array<std::size_t, threads> lives_{};
    std::size_t shared_ = 0;
    std::size_t taken_ = 0;
};

struct Named {
    std::string name;
    Author author;
};

/// In each of them objects of one thread are freed by another, or left by one that ends.
std::vector<Named> histories() {
    std::vector<Named> all;
    for (const std::uint32_t seed : {1U, 2U, 3U}) {
        all.push_back({"at random", atRandom(seed, {8, 16, 40, 48, 96, 200, 1000}, 20000)});
    }
    for (const std::size_t size : {16U, 48U, 96U, 200U, 1000U}) {
        all.push_back({"round robin", roundRobin(size, 200000 / size, 3 * threads)});
        all.push_back({"idle owners", idleOwners(size, 200000 / size, 2)});
        all.push_back({"handed on", handedOn(3, size, 100000 / size, 2 * threads)});
        for (const std::size_t stride : {2U, 3U, 5U, 17U}) {
            all.push_back({"one left", oneLeftInEach(size, 200000 / size, stride, 2 * threads)});
            all.push_back({"ending", endingThreads(size, 200000 / size, stride, 30)});
        }
    }
    return all;
}

template <class Stack>
class PromisedLines : public ::testing::Test {};
TYPED_TEST_SUITE(PromisedLines, CleanOnes);

TYPED_TEST(PromisedLines, AreNotSharedBetweenThreads) {
    for (const Named& each : histories()) {
        typename TypeParam::Heap heap;
        SharedLines lines(TypeParam::forgetsEnded);
        play(each.author, heap, lines);
        EXPECT_EQ(lines.shared(), 0U) << each.name << ", of " << lines.taken() << " objects";
    }
}

template <class Stack>
class PromisedLinesMutation : public ::testing::Test {};
TYPED_TEST_SUITE(PromisedLinesMutation, UncleanOnes);

TYPED_TEST(PromisedLinesMutation, AHeapThatKeepsNoLinesCleanIsFound) {
    const std::vector<Named> all = histories();
    std::size_t found = 0;
    for (const Named& each : all) {
        typename TypeParam::Heap heap;
        SharedLines lines(TypeParam::forgetsEnded);
        play(each.author, heap, lines);
        found += lines.shared() != 0 ? 1U : 0U;
        if (found > all.size() / 4) {
            return;
        }
    }
    FAIL() << "only " << found << " of " << all.size() << " histories show it";
}

/// With the promise about running threads alone, successors share lines with ended threads. One
/// history that shows it is enough.
TEST(PromisedLinesOfRunning, AHeapThatReusesLinesOfEndedThreadsBreaksTheStrictPromise) {
    for (const Named& each : histories()) {
        typename Granary::Heap heap;
        SharedLines lines(false);
        play(each.author, heap, lines);
        if (lines.shared() != 0) {
            return;
        }
    }
    FAIL() << "no history shows it";
}

} // namespace
} // namespace heapwright::testing::promises

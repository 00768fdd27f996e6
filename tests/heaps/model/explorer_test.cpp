// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The explorer itself. It finds errors, tries every order that makes a difference and no more than
// it must. It finds the same with and without its reduction.
#include "explorer.hpp"

#include <heapwright/sync/futex_lock.hpp>
#include <heapwright/sync/lock.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <utility>

namespace heapwright::testing::model {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr Options unreduced = {.reduction = Reduction::none};

TEST(Schedule, IsTextAndBack) {
    const Schedule schedule = {0, 0, 0, 1, 0, 2, 2};
    EXPECT_EQ(toText(schedule), "0*3 1 0 2*2");
    EXPECT_EQ(toSchedule("0*3 1 0 2*2"), schedule);
    EXPECT_EQ(toSchedule(""), Schedule());
    EXPECT_THROW(static_cast<void>(toSchedule("0 x")), std::invalid_argument);
}

/// Each reads a counter and writes it back by one more.
class LostUpdate : public Scenario {
public:
    [[nodiscard]] std::size_t threads() const override { return 2; }
    void thread(std::size_t /*index*/) override { word_.store(word_.load(relaxed) + 1, relaxed); }
    void atEnd() override { require(word_.load(relaxed) == 2, "an update was lost"); }

private:
    SharedWord<int> word_;
};

/// The same in one step.
class KeptUpdate : public Scenario {
public:
    [[nodiscard]] std::size_t threads() const override { return 3; }
    void thread(std::size_t /*index*/) override { word_.fetchAdd(1, relaxed); }
    void atEnd() override { require(word_.load(relaxed) == 3, "an update was lost"); }

private:
    SharedWord<int> word_;
};

/// The same behind a lock; the counter is no shared variable.
class LockedUpdate : public Scenario {
public:
    [[nodiscard]] std::size_t threads() const override { return 3; }
    void thread(std::size_t /*index*/) override {
        const Guard<FutexLock> guard(lock_);
        note(Event::written, &count_);
        require(!inside_, "two are inside");
        inside_ = true;
        ++count_;
        static_cast<void>(other_.load(relaxed)); // where another could go on
        inside_ = false;
    }
    void atEnd() override { require(count_ == 3, "an update was lost"); }

private:
    FutexLock lock_;
    SharedWord<int> other_;
    bool inside_ = false;
    int count_ = 0;
};

/// Two locks, taken in opposite orders.
class Crossing : public Scenario {
public:
    [[nodiscard]] std::size_t threads() const override { return 2; }
    void thread(std::size_t index) override {
        const Guard<FutexLock> outer(locks_.at(index));
        const Guard<FutexLock> inner(locks_.at(1 - index));
    }

private:
    std::array<FutexLock, 2> locks_;
};

/// One waits for the other by looking again and again.
class Spinning : public Scenario {
public:
    [[nodiscard]] std::size_t threads() const override { return 2; }
    void thread(std::size_t index) override {
        while (index == 0 && word_.load(relaxed) == 0) {
        }
        if (index == 1) {
            word_.store(index == 1 ? 0 : 1, relaxed); // never what it waits for
        }
    }

private:
    SharedWord<int> word_;
};

TEST(Explorer, FindsALostUpdateAndCanRepeatIt) {
    for (const Options& options : {Options{}, unreduced}) {
        const Exploration found = explore<LostUpdate>(options);
        EXPECT_EQ(found.failure, "an update was lost");
        const Exploration again = replay<LostUpdate>(found.schedule);
        EXPECT_EQ(again.failure, found.failure);
        EXPECT_EQ(again.schedule, found.schedule);
        EXPECT_EQ(again.trace, found.trace);
    }
    EXPECT_EQ(replay<LostUpdate>("0*3 1*3").failure, "") << "it depends on the order";
}

TEST(Explorer, AcceptsACorrectModel) {
    for (const Options& options : {Options{}, unreduced}) {
        const Exploration added = explore<KeptUpdate>(options);
        EXPECT_TRUE(added.complete && added.failure.empty()) << toText(added);
        EXPECT_EQ(added.runs, 6U) << "the orders of three";
        const Exploration locked = explore<LockedUpdate>(options);
        EXPECT_TRUE(locked.complete && locked.failure.empty()) << toText(locked);
    }
    EXPECT_EQ(explore<LockedUpdate>().runs, 6U) << "what is inside makes no difference";
}

TEST(Explorer, FindsADeadlock) {
    for (const Options& options : {Options{}, unreduced}) {
        const Exploration found = explore<Crossing>(options);
        EXPECT_EQ(found.failure, "deadlock: each thread waits for a lock that another has");
        EXPECT_EQ(replay<Crossing>(found.schedule).failure, found.failure);
    }
}

TEST(Explorer, FindsAModelThatDoesNotEnd) {
    EXPECT_EQ(explore<Spinning>().failure, "it does not end");
}

/// Both write what only one of them has the lock for.
class Unprotected : public Scenario {
public:
    [[nodiscard]] std::size_t threads() const override { return 2; }
    void thread(std::size_t index) override {
        if (index == 0) {
            const Guard<FutexLock> guard(lock_);
            note(Event::written, &count_);
            ++count_;
        } else {
            note(Event::written, &count_);
            ++count_;
        }
    }

private:
    FutexLock lock_;
    int count_ = 0;
};

TEST(Explorer, FindsWritesThatNothingOrders) {
    EXPECT_EQ(explore<Unprotected>().failure,
              "two threads write to a word, and nothing says who is first");
}

TEST(Explorer, RefusesAScheduleOfAnotherScenario) {
    EXPECT_EQ(replay<LostUpdate>("0 7").failure, "the schedule is not one of this scenario");
}

/// Wrong only if three times a thread is left that could have gone on.
class DeepEnough : public Scenario {
public:
    [[nodiscard]] std::size_t threads() const override { return 2; }
    void thread(std::size_t index) override {
        if (index == 0) {
            for (int step = 1; step <= 3; ++step) {
                word_.store(step, relaxed);
            }
        } else {
            const int first = word_.load(relaxed);
            const int second = word_.load(relaxed);
            require(first != 1 || second != 2, "one and two were seen");
        }
    }

private:
    SharedWord<int> word_;
};

TEST(Explorer, KeepsToItsBoundOfPreemptions) {
    Options bounded = unreduced;
    bounded.preemptions = 2;
    const Exploration one = explore<DeepEnough>(bounded);
    EXPECT_TRUE(one.complete && one.failure.empty()) << toText(one);
    bounded.preemptions = 3;
    EXPECT_EQ(explore<DeepEnough>(bounded).failure, "one and two were seen");
    EXPECT_EQ(explore<DeepEnough>().failure, "one and two were seen");
}

TEST(Explorer, StopsAtTheMostRuns) {
    Options options;
    options.mostRuns = 3;
    const Exploration found = explore<KeptUpdate>(options);
    EXPECT_EQ(found.runs, 3U);
    EXPECT_FALSE(found.complete);
}

/// Small programs drawn at random: a few steps on three words and a lock for each thread. What a
/// program can come to is kept as a set: with the reduction it must be the same.
class Random : public Scenario {
public:
    static inline unsigned seed;
    static inline std::set<std::string> ends;

    [[nodiscard]] std::size_t threads() const override { return 3; }
    void thread(std::size_t index) override {
        unsigned state = seed * 3 + static_cast<unsigned>(index) + 1;
        std::string& told = told_.at(index);
        const auto draw = [&state](unsigned below) {
            state = state * 1'664'525U + 1'013'904'223U;
            return (state >> 16U) % below;
        };
        bool locked = false;
        for (int step = 0; step < 3; ++step) {
            SharedWord<int>& word = words_.at(draw(3));
            switch (draw(6)) {
            case 0:
            case 1:
                told += std::to_string(word.load(relaxed)) + " ";
                break;
            case 2:
                word.store(static_cast<int>(10 * index) + step, relaxed);
                break;
            case 3:
                told += std::to_string(word.fetchAdd(100, relaxed)) + " ";
                break;
            case 4:
                if (!locked) {
                    lock_.lock();
                    locked = true;
                }
                break;
            default:
                if (!locked) {
                    locked = lock_.tryLock();
                    told += locked ? "got " : "not ";
                }
            }
        }
        if (locked) {
            lock_.unlock();
        }
    }
    void atEnd() override {
        std::string all;
        for (const std::string& each : told_) {
            all += each + "| ";
        }
        for (const SharedWord<int>& word : words_) {
            all += std::to_string(word.load(relaxed)) + " ";
        }
        ends.insert(all);
    }

private:
    std::array<SharedWord<int>, 3> words_;
    FutexLock lock_;
    std::array<std::string, 3> told_;
};

TEST(Explorer, FindsEveryEndWithTheReductionThatThereIsWithout) {
    std::size_t with = 0;
    std::size_t without = 0;
    for (Random::seed = 0; Random::seed < 40; ++Random::seed) {
        const auto endsOf = [](const Options& options, std::size_t& runs) {
            Random::ends.clear();
            const Exploration found = explore<Random>(options);
            EXPECT_TRUE(found.complete && found.failure.empty()) << toText(found);
            runs += found.runs;
            return std::exchange(Random::ends, {});
        };
        ASSERT_EQ(endsOf({}, with), endsOf(unreduced, without)) << "program " << Random::seed;
    }
    EXPECT_LT(with * 5, without) << "and with far fewer runs";
    RecordProperty("runs_with", static_cast<int>(with));
    RecordProperty("runs_without", static_cast<int>(without));
}

} // namespace
} // namespace heapwright::testing::model

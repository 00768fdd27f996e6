// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sync/event_counts.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

struct alignas(64) Line {
    std::array<std::uint64_t, 8> words;
};

class EventCountsTest : public ::testing::Test {
protected:
    void elsewhere(Event event, const void* address) {
        std::thread([&] { counts_->add(event, address); }).join();
    }
    std::unique_ptr<EventCounts> counts_ = std::make_unique<EventCounts>();
    std::array<Line, 2> lines_{};
};

TEST_F(EventCountsTest, BeginsWithNothing) {
    const EventTotals totals = counts_->totals();
    EXPECT_EQ(totals.lockTakes + totals.lockWaits + totals.atomicOperations + totals.handOvers +
                  totals.writtenLines + totals.sharedLines + totals.writesToSharedLines +
                  totals.unknown,
              0U);
}

TEST_F(EventCountsTest, CountsEachKindOfEvent) {
    const void* const word = lines_.data();
    for (const Event event : {Event::lockTaking, Event::lockAtomic, Event::lockWaiting,
                              Event::lockAtomic, Event::lockTaken, Event::lockFreeing,
                              Event::lockAtomic, Event::load, Event::readModifyWrite}) {
        counts_->add(event, word);
    }
    const EventTotals totals = counts_->totals();
    EXPECT_EQ(totals.lockTakes, 1U);
    EXPECT_EQ(totals.lockWaits, 1U);
    EXPECT_EQ(totals.atomicOperations, 4U);
    EXPECT_EQ(totals.handOvers, 0U) << "one thread hands nothing over";
    EXPECT_EQ(totals.writtenLines, 1U);
    EXPECT_EQ(totals.sharedLines, 0U);
}

TEST_F(EventCountsTest, CountsHandOversOfAWord) {
    const void* const word = lines_.data();
    counts_->add(Event::store, word);
    elsewhere(Event::load, word);
    EXPECT_EQ(counts_->totals().handOvers, 0U) << "to look is not to take";
    elsewhere(Event::readModifyWrite, word);
    EXPECT_EQ(counts_->totals().handOvers, 1U);
    counts_->add(Event::lockTaken, word);
    counts_->add(Event::lockTaken, word);
    EXPECT_EQ(counts_->totals().handOvers, 2U);
    EXPECT_EQ(counts_->totals().sharedLines, 1U) << "once, however often";
}

TEST_F(EventCountsTest, ALineIsSharedThoughItsWordsAreNot) {
    counts_->add(Event::written, &lines_[0].words[0]);
    elsewhere(Event::written, &lines_[0].words[7]);
    elsewhere(Event::written, &lines_[1].words[0]);
    const EventTotals totals = counts_->totals();
    EXPECT_EQ(totals.handOvers, 0U);
    EXPECT_EQ(totals.writtenLines, 2U);
    EXPECT_EQ(totals.sharedLines, 1U);
}

TEST_F(EventCountsTest, CountsWritesToSharedLinesFromTheBeginning) {
    for (int i = 0; i < 10; ++i) {
        counts_->add(Event::written, &lines_[0].words[0]);
        counts_->add(Event::written, &lines_[1].words[0]);
    }
    EXPECT_EQ(counts_->totals().writesToSharedLines, 0U) << "one thread shares nothing";
    elsewhere(Event::written, &lines_[0].words[7]);
    EXPECT_EQ(counts_->totals().writesToSharedLines, 11U);
    counts_->add(Event::lockTaken, &lines_[0].words[3]);
    counts_->add(Event::load, &lines_[0].words[3]);
    EXPECT_EQ(counts_->totals().writesToSharedLines, 12U);
}

TEST_F(EventCountsTest, ReportsLostEvents) {
    constexpr std::size_t many = 200'000;
    for (std::size_t i = 1; i <= many; ++i) {
        counts_->add(Event::store, reinterpret_cast<const void*>(i * 64)); // no test looks there
    }
    const EventTotals totals = counts_->totals();
    EXPECT_GT(totals.unknown, 0U);
    EXPECT_GT(totals.writtenLines, many / 2);
    EXPECT_LT(totals.writtenLines, many);
}

TEST_F(EventCountsTest, LosesNothingAmongThreads) {
    std::vector<std::thread> threads;
    for (int id = 0; id < 4; ++id) {
        threads.emplace_back([this] {
            for (std::size_t i = 0; i < 10'000; ++i) {
                counts_->add(Event::lockTaken, &lines_[i % 2].words[i % 8]);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const EventTotals totals = counts_->totals();
    EXPECT_EQ(totals.lockTakes, 40'000U);
    EXPECT_EQ(totals.writtenLines, 2U);
    EXPECT_EQ(totals.sharedLines, 2U);
    EXPECT_EQ(totals.writesToSharedLines, 40'000U);
}

} // namespace
} // namespace heapwright::testing

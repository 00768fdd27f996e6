// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans and recreations as traces: what was planned is what is read back.
#include "native/trace/trace_file.hpp"
#include "synth/load.hpp"
#include "synth/recreations.hpp"
#include "trace/reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace heapwright::synth {
namespace {

using trace::Routine;

constexpr const char* head = "heapwright-plan 1 seed 7 null-frees 0 moves 0 routines 1 0 0 1 ";
constexpr const char* bands = "bands 2 band 1 1 16 16 1 1 band 1 1 100 200 10 1 ";
constexpr const char* lifetimes = "lifetimes 4 0 1 1 0 50 90 1 2 ";
constexpr const char* one = "threads 1 1 0 100000 0 0 ";

Plan planOf(const std::string& text) {
    std::istringstream stream(text);
    return readPlan(stream);
}

/// The contents of a trace, and whether it makes sense.
struct Read {
    std::map<std::uint64_t, std::uint64_t> sizes; ///< how often each was requested
    std::map<std::uint64_t, std::pair<std::uint64_t, std::uint32_t>> live; ///< size, thread
    std::uint64_t events = 0;
    std::uint64_t frees = 0;
    std::uint64_t handed = 0;
    std::uint64_t reallocs = 0;
    std::uint64_t mostLive = 0;
    std::uint64_t liveBytes = 0;

    explicit Read(const std::string& path) {
        const trace::Trace trace(path);
        trace::MergedEvents merged(trace);
        for (trace::Event event; merged.next(event);)
            take(event);
        EXPECT_EQ(trace.faultCount(), 0U);
    }

private:
    void take(const trace::Event& event) {
        ++events;
        if (trace::isRealloc(event.routine) && event.old != 0) {
            ++reallocs;
            end(event.old, event.thread);
        }
        if (trace::isAllocation(event.routine)) {
            ++sizes[event.size];
            EXPECT_TRUE(live.emplace(event.address, std::pair(event.size, event.thread)).second);
            liveBytes += event.size;
            mostLive = std::max(mostLive, liveBytes);
        } else if (event.address != 0) {
            ++frees;
            end(event.address, event.thread);
        }
    }

    void end(std::uint64_t address, std::uint32_t thread) {
        const auto block = live.find(address);
        ASSERT_NE(block, live.end());
        handed += block->second.second != thread ? 1U : 0U;
        liveBytes -= block->second.first;
        live.erase(block);
    }
};

Read generated(const std::string& text) {
    const trace::TraceFile file;
    const Plan plan = planOf(text);
    Output output(file.path(), static_cast<std::uint32_t>(plan.threads.size()), {"test"});
    generate(plan, output);
    output.close();
    return Read(file.path());
}

std::vector<std::byte> bytesOf(const std::string& text) {
    const trace::TraceFile file;
    const Plan plan = planOf(text);
    Output output(file.path(), static_cast<std::uint32_t>(plan.threads.size()), {"test"});
    generate(plan, output);
    output.close();
    return file.bytes();
}

const std::string phases = "phases 2 phase 4000 1e6 1 2 0 0 1000 1 1 500 phase 1000 1e6 1 2 0 3 30 "
                           "1 2 20 end";

TEST(Load, MakesEachAllocationAsOftenAsPlanned) {
    const Read read = generated(std::string(head) + bands + lifetimes + one + phases);
    EXPECT_EQ(read.sizes.at(16), 1030U);
    std::uint64_t others = 0;
    for (const auto& [size, count] : read.sizes) {
        if (size != 16) {
            EXPECT_EQ(size % 10, 0U);
            EXPECT_GE(size, 100U);
            EXPECT_LE(size, 200U);
            others += count;
        }
    }
    EXPECT_EQ(others, 520U);
    EXPECT_EQ(read.live.size(), 30U) << "only what is never freed";
    EXPECT_EQ(read.frees, 1520U);
}

TEST(Load, IsTheSameForTheSameSeedAndAnotherForAnother) {
    const std::string rest = std::string(bands) + lifetimes + one + phases;
    const auto first = bytesOf(head + rest);
    EXPECT_EQ(first, bytesOf(head + rest));
    std::string other = head;
    other.replace(other.find("seed 7"), 6, "seed 8");
    EXPECT_NE(first, bytesOf(other + rest));
}

TEST(Load, HandsOverAndMovesAsOftenAsSaid) {
    const std::string moving = "heapwright-plan 1 seed 1 null-frees 0 moves 0.25 routines 1 0 0 1 ";
    const std::string two = "threads 2 1 0 100000 0.5 1 1 1 1 0 100000 0 0 ";
    const Read read =
        generated(moving + bands + lifetimes + two + "phases 1 phase 40000 1e6 1 1 0 0 20000 end");
    EXPECT_NEAR(static_cast<double>(read.reallocs), 5000, 400);
    EXPECT_NEAR(static_cast<double>(read.handed), 5000,
                1500); // realloc'd blocks go with their taker
    EXPECT_TRUE(read.live.empty());
}

TEST(Plan, RefusesInconsistentPlans) {
    const std::string good = std::string(head) + bands + lifetimes + one + phases;
    EXPECT_NO_THROW(planOf(good));
    for (std::size_t end = 0; end + 1 < good.size(); end += 3)
        EXPECT_THROW(planOf(good.substr(0, end)), PlanError) << end;
    const auto with = [&](const std::string& what, const std::string& instead) {
        std::string text = good;
        return text.replace(text.find(what), what.size(), instead);
    };
    EXPECT_THROW(planOf(with("plan 1", "plan 2")), PlanError);
    EXPECT_THROW(planOf(with("seed 7", "seed -7")), PlanError);
    EXPECT_THROW(planOf(with("routines 1 0 0 1", "routines 1 16 0 1")), PlanError);
    EXPECT_THROW(planOf(with("routines 1 0 0 1", "routines 1 0 64 1")), PlanError);
    EXPECT_THROW(planOf(with("routines 1 0 0 1", "routines 1 0 0 0")), PlanError);
    EXPECT_THROW(planOf(with("bands 2", "bands 4000000000")), PlanError);
    EXPECT_THROW(planOf(with("100 200 10", "200 100 10")), PlanError);
    EXPECT_THROW(planOf(with("100 200 10", "100 200 0")), PlanError);
    EXPECT_THROW(planOf(with("0 50 90", "0 90 50")), PlanError);
    EXPECT_THROW(planOf(with("1e6 1 2 0 0 1000", "nan 1 2 0 0 1000")), PlanError);
    EXPECT_THROW(planOf(with("0 3 30", "0 4 30")), PlanError);
}

Read recreated(const char* name, std::uint64_t events) {
    const trace::TraceFile file;
    const Recreation* const recreation = findRecreation(name);
    EXPECT_NE(recreation, nullptr);
    Output output(file.path(), recreation->threads, {"test"});
    Random random(1);
    recreation->make(output, random, events);
    output.close();
    return Read(file.path());
}

TEST(Recreations, OneAllocKeepsSmallAndLargeBlocksInTurns) {
    const Read read = recreated("mt_test_one_alloc", 20'000);
    std::uint64_t small = 0;
    std::uint64_t large = 0;
    for (const auto& [size, count] : read.sizes) {
        small += size >= 257 && size <= 514 && size != 288 ? count : 0;
        large += size >= 118'784 && size <= 126'976 ? count : 0;
    }
    EXPECT_GT(large, 6000U);
    EXPECT_NEAR(static_cast<double>(small), static_cast<double>(large), 150);
    EXPECT_EQ(read.live.size(), 1U) << "the table of the thread that was started";
    EXPECT_NEAR(static_cast<double>(read.mostLive), 500 * 122'880 + 6700 * 385, 2e6);
}

TEST(Recreations, DjFreesEightyBytesAtOnceAndHandsOnVeryFew) {
    const Read read = recreated("dj", 200'000);
    EXPECT_GT(read.sizes.at(80), 99'000U);
    EXPECT_EQ(read.sizes.size(), 2U);
    EXPECT_GT(read.handed, 50U);
    EXPECT_LT(read.handed, 160U);
    EXPECT_LT(read.mostLive, 200 * 288 + 200 * 80U);
}

TEST(Recreations, Dj2DrawsRoutinesSizesAndHandOversAtRandom) {
    const Read read = recreated("dj2", 100'000);
    EXPECT_GT(read.sizes.size(), 5000U);
    EXPECT_GT(read.reallocs, 5000U);
    EXPECT_GT(read.handed, 5000U);
    EXPECT_EQ(read.live.size(), 35U);
}

TEST(Recreations, AreFoundByNameOnly) {
    EXPECT_EQ(findRecreation("dj3"), nullptr);
    for (const Recreation& each : recreations())
        EXPECT_EQ(findRecreation(each.name), &each);
}

} // namespace
} // namespace heapwright::synth

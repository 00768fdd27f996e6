// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How long a thread computes between its calls, by the times of a trace.
#include "random_trace.hpp"

#include "replayer/prepare/gaps.hpp"
#include "trace/accounts.hpp"

#include <cstddef>
#include <cstring>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

namespace heapwright::replayer::testing {
namespace {

Event call(Routine routine, std::uint64_t began, std::uint64_t time) {
    return {.routine = routine, .time = time, .began = began};
}

TEST(Gaps, AreBetweenTheCallsOfOneThreadAndNamedByTheCallsInside) {
    GapClock clock(2);
    EXPECT_FALSE(clock.before(0, call(Routine::malloc, 100, 100)).has_value());
    EXPECT_FALSE(clock.before(1, call(Routine::free, 150, 150)).has_value());
    const auto allocation = clock.before(0, call(Routine::calloc, 160, 160));
    const auto work = clock.before(0, call(Routine::free, 200, 200));
    const auto freeThenResize = clock.before(0, call(Routine::realloc, 300, 350));
    const auto afterResize = clock.before(0, call(Routine::malloc, 400, 400));
    const auto freeAndAllocation = clock.before(1, call(Routine::malloc, 450, 450));
    EXPECT_EQ(allocation->kind, 1U);
    EXPECT_EQ(allocation->nanoseconds, 60U);
    EXPECT_EQ(work->kind, 0U);
    EXPECT_EQ(work->nanoseconds, 40U);
    EXPECT_EQ(freeThenResize->kind, 2U);
    EXPECT_EQ(freeThenResize->nanoseconds, 100U);
    EXPECT_EQ(afterResize->kind, 1U);
    EXPECT_EQ(afterResize->nanoseconds, 50U) << "from the return of the realloc";
    EXPECT_EQ(freeAndAllocation->kind, 3U);
    EXPECT_EQ(freeAndAllocation->nanoseconds, 300U);
}

TEST(Gaps, TheShortestOfAKindAreNoWork) {
    GapSurvey survey;
    for (int at = 0; at < 100; ++at) {
        survey.add({0, 5});
        survey.add({1, 20});
        survey.add({1, 500});
    }
    const GapModel model = survey.model(0);
    EXPECT_EQ(model.work({0, 5}), 0U);
    EXPECT_EQ(model.work({0, 8}), 3U);
    EXPECT_EQ(model.work({1, 20}), 0U);
    EXPECT_EQ(model.work({1, 500}), 480U);
    EXPECT_EQ(survey.nanoseconds(), 100U * 525U);
}

TEST(Gaps, AreCutToTheProcessorTimeBecauseTheRestWasWaiting) {
    GapSurvey survey;
    for (int at = 0; at < 1000; ++at) {
        survey.add({0, 10});
        survey.add({0, 110});
    }
    survey.add({0, 30'000'000'000});
    constexpr std::uint64_t processor = 400'000;
    const GapModel model = survey.model(processor);
    EXPECT_EQ(model.work({0, 110}), 100U);
    EXPECT_GE(model.longest, 200'000U);
    EXPECT_LE(survey.work(model) + survey.calls(model), processor);
    const GapModel enough = survey.model(60'000'000'000);
    EXPECT_EQ(enough.longest, 30'000'000'000U);
    EXPECT_EQ(survey.model(0).longest, GapSurvey::longestUnknown);
}

TEST(Gaps, TheProcessorTimeIsThatOfTheProgramAndNotOfTheShellBeforeIt) {
    const std::string path = ::testing::TempDir() + "gaps-" + std::to_string(::getpid());
    {
        trace::TraceWriter writer(path);
        const std::uint32_t process =
            writer.process({.pid = 7, .executable = "/bin/it", .arguments = {}});
        const std::uint32_t thread = writer.thread(process);
        writer.add({.thread = thread, .time = 1, .address = 16, .size = 8});
        const auto account = [&writer](const std::string& executable, std::uint64_t cpu,
                                       std::uint32_t count) {
            trace::ProcessAccount fields{};
            fields.pid = 7;
            fields.count = count;
            fields.cpuNs = cpu;
            fields.exeLength = static_cast<std::uint32_t>(executable.size());
            std::vector<std::byte> bytes(sizeof fields + executable.size());
            std::memcpy(bytes.data(), &fields, sizeof fields);
            std::memcpy(bytes.data() + sizeof fields, executable.data(), executable.size());
            writer.record(trace::BlockKind::system, 0, trace::record::processAccount, bytes);
        };
        account("/bin/sh", 111, 1);
        account("/bin/it", 222, 1);
        account("/bin/it", 333, 5); // of several alike, none is known
        writer.close();
    }
    EXPECT_EQ(processorTime(trace::Trace(path), 0), 222U);
    ::unlink(path.c_str());
}

} // namespace
} // namespace heapwright::replayer::testing

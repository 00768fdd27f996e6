// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How long a thread computes between its calls, by the times of a trace.
#include "random_trace.hpp"

#include "replayer/prepare/gaps.hpp"
#include "replayer/prepare/interlude.hpp"
#include "replayer/prepare/prepare.hpp"
#include "trace/accounts.hpp"

#include <cstddef>
#include <cstring>
#include <gtest/gtest.h>
#include <initializer_list>
#include <stdexcept>
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

/// Adds the account of a process of that image.
void account(trace::TraceWriter& writer, const std::string& executable, std::uint64_t cpu,
             std::uint32_t count = 1) {
    trace::ProcessAccount fields{};
    fields.pid = 7;
    fields.count = count;
    fields.cpuNs = cpu;
    fields.exeLength = static_cast<std::uint32_t>(executable.size());
    std::vector<std::byte> bytes(sizeof fields + executable.size());
    std::memcpy(bytes.data(), &fields, sizeof fields);
    std::memcpy(bytes.data() + sizeof fields, executable.data(), executable.size());
    writer.record(trace::BlockKind::system, 0, trace::record::processAccount, bytes);
}

/// A trace of /bin/it that makes an object at each of these times.
class TraceOfTimes {
public:
    explicit TraceOfTimes(std::initializer_list<std::uint64_t> times)
        : writer_(path_, {.clock = trace::Clock::monotonic}) {
        const std::uint32_t process =
            writer_.process({.pid = 7, .executable = "/bin/it", .arguments = {}});
        const std::uint32_t thread = writer_.thread(process);
        std::uint64_t address = 0;
        for (const std::uint64_t time : times) {
            address += 16;
            writer_.add({.thread = thread, .time = time, .address = address, .size = 8});
        }
    }
    TraceOfTimes(const TraceOfTimes&) = delete;
    TraceOfTimes& operator=(const TraceOfTimes&) = delete;
    ~TraceOfTimes() { ::unlink(path_.c_str()); }

    void add(const std::string& executable, std::uint64_t cpu, std::uint32_t count = 1) {
        account(writer_, executable, cpu, count);
    }
    /// Its path.
    const std::string& close() {
        writer_.close();
        return path_;
    }

private:
    std::string path_ = ::testing::TempDir() + "gaps-" + std::to_string(::getpid());
    trace::TraceWriter writer_;
};

TEST(Gaps, TheProcessorTimeIsThatOfTheProgramAndNotOfTheShellBeforeIt) {
    TraceOfTimes made({1});
    made.add("/bin/sh", 111);
    made.add("/bin/it", 222);
    made.add("/bin/it", 333, 5); // of several alike, none is known
    EXPECT_EQ(processorTime(trace::Trace(made.close()), 0), 222U);
}

TEST(Gaps, TheProcessorTimeOfTwoProcessesOfOneNumberIsNotKnown) {
    TraceOfTimes made({1});
    made.add("/bin/it", 222);
    made.add("/bin/it", 333);
    EXPECT_EQ(processorTime(trace::Trace(made.close()), 0), 0U);
}

TEST(Gaps, OfAHostileTraceHaveALimitAndTheirSumsDoNotWrap) {
    GapClock clock(1);
    EXPECT_FALSE(clock.before(0, call(Routine::malloc, 1, 1)).has_value());
    const auto gap = clock.before(0, call(Routine::malloc, UINT64_MAX, UINT64_MAX));
    EXPECT_EQ(gap->nanoseconds, Gap::most);
    GapSurvey survey;
    survey.add({0, 0});
    for (int at = 0; at < 40; ++at) {
        survey.add({0, std::uint64_t{1} << 59U});
    }
    const GapModel model = survey.model(1000);
    EXPECT_EQ(survey.nanoseconds(), UINT64_MAX);
    EXPECT_EQ(survey.work({.calls = {}, .longest = UINT64_MAX}), UINT64_MAX);
    EXPECT_LE(survey.work(model), 1000U);
}

TEST(Gaps, OfAHostileTraceMakeASmallPlan) {
    // a quarter of an hour of work at the most, and as many visits as a plan may have at that rate
    TraceOfTimes made({0, 1, std::uint64_t{1} << 63U});
    made.add("/bin/it", UINT64_MAX);
    const std::string& trace = made.close();
    const std::string plan = trace + ".plan";
    const PrepareOptions options{.trace = trace,
                                 .plan = plan,
                                 .gaps = true,
                                 .iterationsPerMillisecond = 100'000'000,
                                 .visitsPerMillisecond = 100'000'000};
    const Between between = prepare(options).between;
    EXPECT_LE(between.worked, Gap::most);
    EXPECT_GT(between.iterations, std::uint64_t{1} << 46U);
    EXPECT_LE(between.iterations, mostControl);
    EXPECT_EQ(between.visitsPerMillisecond, 3U);
    EXPECT_LE(between.visits, Interlude::mostVisits);
    ::unlink(plan.c_str());
}

TEST(Gaps, ThatAreTooLongForVisitsAreRefused) {
    TraceOfTimes made({0, 1, std::uint64_t{1} << 61U, std::uint64_t{1} << 62U,
                       std::uint64_t{1} << 63U, UINT64_MAX});
    made.add("/bin/it", UINT64_MAX);
    const std::string& trace = made.close();
    const std::string plan = trace + ".plan";
    PrepareOptions options{.trace = trace, .plan = plan, .gaps = true, .visitsPerMillisecond = 1};
    EXPECT_THROW(prepare(options), std::runtime_error);
    options.visitsPerMillisecond = 0;
    EXPECT_EQ(prepare(options).between.visits, 0U);
    ::unlink(plan.c_str());
}

} // namespace
} // namespace heapwright::replayer::testing

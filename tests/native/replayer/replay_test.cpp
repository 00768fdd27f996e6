// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The program itself, on traces drawn at random and on a few made for the purpose. The live objects
// after each call are those of the trace, for every oddity. Nothing is lost or returned twice.
#include "random_trace.hpp"

#include "replayer/plan.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace heapwright::replayer::testing {
namespace {

struct Done {
    int status = -1;
    std::string out;

    /// The number behind a key.
    double number(const std::string& key) const {
        const std::size_t at = out.find('"' + key + "\":");
        EXPECT_NE(at, std::string::npos) << key << " in " << out;
        return std::strtod(out.c_str() + at + key.size() + 3, nullptr);
    }
};

class ReplayTest : public ::testing::Test {
protected:
    void SetUp() override {
        std::string pattern = ::testing::TempDir() + "replay-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern + "/";
    }
    void TearDown() override { std::system(("rm -rf " + folder_).c_str()); }

    std::string path(const char* name) const { return folder_ + name; }

    Done run(const std::string& words) {
        const std::string command =
            std::string(REPLAY_PROGRAM) + " " + words + " 2>" + path("errors");
        std::FILE* const pipe = ::popen(command.c_str(), "r");
        Done done;
        char piece[4096];
        while (std::size_t got = std::fread(piece, 1, sizeof piece, pipe)) {
            done.out.append(piece, got);
        }
        const int status = ::pclose(pipe);
        done.status = WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
        return done;
    }

    std::string errors() const {
        std::ifstream file(path("errors"));
        return {std::istreambuf_iterator<char>(file), {}};
    }

    /// The live bytes of each operation, as a replay wrote them.
    std::vector<std::uint64_t> curve() const {
        std::ifstream file(path("curve"));
        std::string line;
        std::getline(file, line);
        EXPECT_EQ(line, "operation,live_bytes,live_objects");
        std::vector<std::uint64_t> live;
        while (std::getline(file, line)) {
            std::istringstream words(line);
            std::uint64_t operation = 0;
            char comma = 0;
            std::uint64_t bytes = 0;
            words >> operation >> comma >> bytes;
            EXPECT_EQ(operation, live.size() + 1);
            live.push_back(bytes);
        }
        return live;
    }

    /// Prepares a trace of these events, and expects that to work.
    Done prepare(const std::vector<Event>& events, unsigned threads, const char* options = "") {
        write(path("trace"), events, threads, clock);
        const Done done = run("prepare " + path("trace") + " -o " + path("plan") + " " + options);
        EXPECT_EQ(done.status, 0) << errors();
        return done;
    }

    trace::Clock clock = trace::Clock::counted; ///< of the traces

    Done replay(const std::string& options = "") {
        const Done done = run("run " + path("plan") + " " + options);
        EXPECT_EQ(done.status, 0) << errors();
        return done;
    }

private:
    std::string folder_;
};

TEST_F(ReplayTest, OneThreadsLiveBytesAreThoseOfTheTrace) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const Drawn drawn = Drawing({.calls = 4000}, seed).draw();
        const Done plan = prepare(drawn.events, 1);
        EXPECT_EQ(plan.number("ideal_bytes"), static_cast<double>(drawn.peak));
        EXPECT_EQ(plan.number("hand_overs"), 0);
        const Done done = replay("--check --curve " + path("curve"));
        EXPECT_EQ(curve(), drawn.live);
        EXPECT_EQ(done.number("failed_calls"), 0);
    }
}

TEST_F(ReplayTest, InRecordedOrderTheyAreWithAnyNumberOfThreads) {
    for (const unsigned threads : {2U, 5U, 17U}) {
        const Drawn drawn =
            Drawing({.threads = threads, .calls = 3000, .foreignPercent = 40}, threads).draw();
        const Done plan = prepare(drawn.events, threads, "--order recorded");
        EXPECT_EQ(plan.number("hand_overs"), static_cast<double>(drawn.handOvers));
        EXPECT_GT(drawn.handOvers, 100U);
        replay("--check --curve " + path("curve"));
        EXPECT_EQ(curve(), drawn.live);
    }
}

TEST_F(ReplayTest, ToleratesAndCountsInvalidEvents) {
    const Drawn drawn =
        Drawing({.threads = 4, .calls = 5000, .foreignPercent = 30, .odd = true}, 11).draw();
    const Done plan = prepare(drawn.events, 4, "--order recorded");
    EXPECT_EQ(plan.number("ideal_bytes"), static_cast<double>(drawn.peak));
    for (const char* const odd :
         {"failed", "unknown_frees", "unknown_reallocs", "overwritten", "null_frees"}) {
        EXPECT_GT(plan.number(odd), 20) << odd;
    }
    replay("--check --curve " + path("curve"));
    EXPECT_EQ(curve(), drawn.live);
}

TEST_F(ReplayTest, WithHandOversAloneNothingIsLostOrGivenTwice) {
    const Drawn drawn =
        Drawing({.threads = 6, .calls = 20'000, .foreignPercent = 50, .odd = true}, 12).draw();
    prepare(drawn.events, 6, "--order hand-over");
    replay("--check");
    const Done done = replay("--curve " + path("curve"));
    const std::vector<std::uint64_t> live = curve();
    EXPECT_EQ(live.size(), drawn.live.size());
    EXPECT_EQ(live.back(), drawn.live.back()); // the same objects are left in any order
    EXPECT_EQ(done.number("failed_calls"), 0);
}

/// A thread makes `calls` objects, another frees each when `most` are live.
std::vector<Event> queue(unsigned calls, unsigned most, std::uint64_t size) {
    std::vector<Event> events;
    std::uint64_t time = 0;
    for (std::uint64_t at = 1; at <= calls; ++at) {
        events.push_back(
            {.routine = Routine::malloc, .time = ++time, .address = at << 16U, .size = size});
        if (at >= most) {
            events.push_back({.routine = Routine::free,
                              .thread = 1,
                              .time = ++time,
                              .address = (at - most + 1) << 16U});
        }
    }
    return events;
}

TEST_F(ReplayTest, AProducerDoesNotRunAwayFromItsQueue) {
    const Done plan = prepare(queue(50'000, 10, 4096), 2);
    EXPECT_EQ(plan.number("ideal_bytes"), 10 * 4096);
    const double most = plan.number("ideal_bytes") + plan.number("ahead_bytes");
    EXPECT_LE(plan.number("ahead_bytes"), 32 << 10);
    replay("--check --curve " + path("curve"));
    const std::vector<std::uint64_t> live = curve();
    EXPECT_EQ(live.size(), 99'991U);
    EXPECT_LE(static_cast<double>(*std::max_element(live.begin(), live.end())), most);
}

TEST_F(ReplayTest, InBoundedOrderLiveBytesStayCloseToThePeak) {
    for (const unsigned threads : {2U, 5U, 17U}) {
        const Drawn drawn =
            Drawing({.threads = threads, .calls = 20'000, .foreignPercent = 20, .odd = true},
                    threads)
                .draw();
        const Done plan = prepare(drawn.events, threads, "--order bounded");
        const double peak = plan.number("ideal_bytes");
        const double ahead = plan.number("ahead_bytes");
        EXPECT_LE(ahead, peak / 16 + (32 << 10));
        replay("--check --curve " + path("curve"));
        const std::vector<std::uint64_t> live = curve();
        EXPECT_EQ(live.size(), drawn.live.size());
        const auto most = static_cast<double>(*std::max_element(live.begin(), live.end()));
        EXPECT_LE(most, peak + ahead);
        EXPECT_GE(most, peak - ahead);
        EXPECT_EQ(live.back(), drawn.live.back());
    }
}

TEST_F(ReplayTest, AStreamedPlanDoesTheSame) {
    const Drawn drawn = Drawing({.threads = 2, .calls = 60'000, .foreignPercent = 20}, 13).draw();
    prepare(drawn.events, 2, "--order recorded");
    const Done mapped = replay("--resident 1000000000");
    const Done streamed = replay("--resident 0 --check --curve " + path("curve"));
    EXPECT_NE(mapped.out.find("\"streamed\":false"), std::string::npos);
    EXPECT_NE(streamed.out.find("\"streamed\":true"), std::string::npos);
    EXPECT_EQ(curve(), drawn.live);
    const Done again = replay("--resident 0");
    EXPECT_LT(again.number("own_bytes"), mapped.number("own_bytes"));
}

TEST_F(ReplayTest, EachCallIsCountedInItsRoutinesHistogram) {
    std::vector<Event> events;
    for (std::uint64_t at = 1; at <= 100; ++at) {
        events.push_back(
            {.routine = Routine::malloc, .time = 2 * at, .address = 16 * at, .size = at});
        if (at % 2 == 0) {
            events.push_back({.routine = Routine::free, .time = 2 * at + 1, .address = 16 * at});
        }
    }
    prepare(events, 1);
    const Done done = replay("--touch as-recorded-size");
    EXPECT_EQ(done.number("calls"), 150);
    EXPECT_NE(done.out.find("\"malloc\":{\"calls\":100,"), std::string::npos);
    EXPECT_NE(done.out.find("\"free\":{\"calls\":50,"), std::string::npos);
    EXPECT_LE(done.number("p50_ns"), done.number("p99_99_ns"));
    EXPECT_LE(done.number("p99_99_ns"), done.number("max_ns"));
}

TEST_F(ReplayTest, EveryWayToTouchMemoryWorks) {
    const Drawn drawn = Drawing({.threads = 2, .calls = 3000, .foreignPercent = 20}, 14).draw();
    prepare(drawn.events, 2);
    for (const char* const touch : {"none", "first-byte", "all", "as-recorded-size"}) {
        EXPECT_EQ(replay(std::string("--touch ") + touch).number("failed_calls"), 0);
    }
}

TEST_F(ReplayTest, TouchedMemoryIsResident) {
    const std::vector<Event> events = {
        {.routine = Routine::malloc, .time = 1, .address = 16, .size = std::uint64_t{64} << 20}};
    prepare(events, 1);
    EXPECT_LT(replay("--touch none").number("peak_bytes"), 32 << 20);
    EXPECT_GT(replay("--touch as-recorded-size").number("peak_bytes"), 64 << 20);
}

TEST_F(ReplayTest, TheRecordedPaceIsKept) {
    std::vector<Event> events;
    for (std::uint64_t at = 0; at < 5; ++at) {
        const std::uint64_t when = 1 + at * 30'000'000;
        events.push_back({.routine = Routine::malloc,
                          .time = when,
                          .began = when,
                          .address = 16 * (at + 1),
                          .size = 8});
    }
    prepare(events, 1, "--pace recorded");
    EXPECT_GE(replay().number("seconds"), 0.12);
}

/// A thread makes 200 objects of 100 bytes. Before every other call it works for a microsecond.
std::vector<Event> withGaps() {
    constexpr std::uint64_t call = 20;
    std::vector<Event> events;
    std::uint64_t time = 0;
    for (std::uint64_t at = 0; at < 201; ++at) {
        time += at % 2 == 1 ? call + 1000 : call;
        events.push_back(
            {.routine = Routine::malloc, .time = time, .address = 128 * (at + 1), .size = 100});
    }
    return events;
}

TEST_F(ReplayTest, GapsAreReplayedAsThatManyIterations) {
    clock = trace::Clock::monotonic;
    const Done plan = prepare(withGaps(), 1, "--gaps recorded --iterations 3000000");
    EXPECT_EQ(plan.number("iterations"), 100 * 3000);
    EXPECT_EQ(plan.number("allocation"), 20);
    EXPECT_DOUBLE_EQ(plan.number("work_s"), 100e-6);
    EXPECT_DOUBLE_EQ(plan.number("recorded_s"), 104e-6);
    EXPECT_EQ(plan.number("visits"), 0);
    EXPECT_EQ(replay().number("iterations_done"), 100 * 3000);
    EXPECT_EQ(replay("--check --resident 0").number("iterations_done"), 100 * 3000);
    const Done without = prepare(withGaps(), 1);
    EXPECT_EQ(without.out.find("iterations"), std::string::npos);
    EXPECT_EQ(replay().number("iterations_done"), 0);
}

TEST_F(ReplayTest, VisitsAreInProportionToTheWork) {
    clock = trace::Clock::monotonic;
    const Done plan = prepare(withGaps(), 1, "--gaps recorded --visits 2500");
    EXPECT_EQ(plan.number("visits"), 250);
    EXPECT_EQ(plan.number("visited_lines"), 2 * 250) << "100 bytes lie in two pieces of 64";
    EXPECT_GT(plan.number("iterations_per_ms"), 0);
    EXPECT_EQ(replay("--touch as-recorded-size").number("lines_visited"), 2 * 250);
}

TEST_F(ReplayTest, VisitsLeaveTheContentsOfObjectsAsTheyAre) {
    clock = trace::Clock::monotonic;
    for (const unsigned threads : {1U, 4U}) {
        const Drawn drawn =
            Drawing({.threads = threads, .calls = 6000, .foreignPercent = 20, .odd = true}, threads)
                .draw();
        const Done plan =
            prepare(drawn.events, threads, "--gaps recorded --iterations 1 --visits 4000");
        EXPECT_GT(plan.number("visits"), 1000);
        EXPECT_GT(plan.number("visited_lines"), plan.number("visits"));
        const Done done = replay("--check");
        EXPECT_EQ(done.number("lines_visited"), plan.number("visited_lines"));
        EXPECT_EQ(done.number("failed_calls"), 0);
    }
}

TEST_F(ReplayTest, WhatHasNoGapsIsRefusedInWords) {
    write(path("trace"), withGaps(), 1);
    const std::string words = "prepare " + path("trace") + " -o " + path("plan");
    EXPECT_EQ(run(words + " --gaps recorded").status, 2);
    EXPECT_NE(errors().find("the trace has no times"), std::string::npos);
    EXPECT_EQ(run(words + " --visits 3").status, 2);
    EXPECT_NE(errors().find("add --gaps recorded"), std::string::npos);
    EXPECT_EQ(run(words + " --iterations 3").status, 2);
    EXPECT_NE(errors().find("add --gaps recorded"), std::string::npos);
    EXPECT_EQ(run(words + " --gaps recorded --pace recorded").status, 2);
    EXPECT_NE(errors().find("leave out --pace"), std::string::npos);
    EXPECT_EQ(run(words + " --gaps recorded --visits 0").status, 2);
}

TEST_F(ReplayTest, ThousandsOfThreadsOneAfterTheOtherAreNotAllAliveAtOnce) {
    constexpr unsigned threads = 3000;
    std::vector<Event> events;
    for (unsigned at = 0; at < threads; ++at) {
        events.push_back({.routine = Routine::malloc,
                          .thread = at,
                          .time = 10 * at + 1,
                          .address = 16 * (at + 1),
                          .size = 8});
        events.push_back({.routine = Routine::free,
                          .thread = at,
                          .time = 10 * at + 2,
                          .address = 16 * (at + 1)});
    }
    prepare(events, threads);
    const Done done = replay("--check");
    EXPECT_EQ(done.number("threads"), threads);
    EXPECT_EQ(done.number("failed_calls"), 0);
}

TEST_F(ReplayTest, WhatIsNoTraceOrNoPlanIsRefusedInWords) {
    std::ofstream(path("nothing")) << "no trace at all";
    Done done = run("prepare " + path("nothing") + " -o " + path("plan"));
    EXPECT_EQ(done.status, 2);
    EXPECT_NE(errors(), "");
    EXPECT_NE(::access(path("plan").c_str(), F_OK), 0);
    done = run("run " + path("nothing"));
    EXPECT_EQ(done.status, 2);
    EXPECT_NE(errors().find("is no plan"), std::string::npos);
    done = run("run " + path("absent"));
    EXPECT_EQ(done.status, 2);
}

TEST_F(ReplayTest, ATraceWithoutCallsIsRefused) {
    write(path("trace"), {}, 1);
    EXPECT_EQ(run("prepare " + path("trace") + " -o " + path("plan")).status, 2);
    EXPECT_NE(errors().find("no calls"), std::string::npos);
}

TEST_F(ReplayTest, APlanThatWasCutIsRefused) {
    prepare(Drawing({.calls = 1000}, 15).draw().events, 1);
    ASSERT_EQ(::truncate(path("plan").c_str(), 5000), 0);
    EXPECT_EQ(run("run " + path("plan")).status, 2);
}

} // namespace
} // namespace heapwright::replayer::testing

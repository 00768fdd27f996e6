// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The class of long-lived allocations. The rule is tested on runs whose class is obvious, and on
// runs close to its limits.
#include <gtest/gtest.h>
#include <random>

#include "profiler/pattern.hpp"
#include "scene.hpp"

namespace heapwright::profiler {
namespace {

using Counts = std::vector<std::uint64_t>;

/// A run of `steps` in which long-lived allocations are made evenly from one share of it to
/// another.
Counts between(double from, double to, std::size_t steps = 120, std::uint64_t each = 10) {
    Counts counts(steps);
    for (std::size_t at = 0; at < steps; ++at) {
        const double place = (static_cast<double>(at) + 0.5) / static_cast<double>(steps);
        counts[at] = place > from && place < to ? each : 0;
    }
    return counts;
}

Counts sum(Counts counts, const Counts& more) {
    for (std::size_t at = 0; at < counts.size(); ++at)
        counts[at] += more[at];
    return counts;
}

std::string_view classOf(const Counts& counts) {
    return classify(counts, static_cast<double>(counts.size())).name;
}

TEST(PatternRule, ABurstAtTheBeginningIsAPeak) {
    EXPECT_EQ(classOf(between(0, 0.05)), "peak");
    EXPECT_EQ(classOf(between(0, 0.2)), "peak");
    EXPECT_EQ(classOf(between(0.1, 0.3)), "peak");
    EXPECT_EQ(classOf(sum(between(0, 0.1, 120, 100), between(0, 1, 120, 2))), "peak");
}

TEST(PatternRule, ALineIsGrowing) {
    EXPECT_EQ(classOf(between(0, 1)), "growing");
    EXPECT_EQ(classOf(between(0.17, 1)), "growing"); // from some point on, as published
    EXPECT_EQ(classOf(sum(between(0, 1), between(0, 0.1, 120, 20))), "growing");
}

TEST(PatternRule, ABurstThatIsNotOverIsGrowing) {
    EXPECT_EQ(classOf(between(0.95, 1)), "growing");
    EXPECT_EQ(classOf(between(0.7, 1)), "growing");
}

TEST(PatternRule, ABurstInTheMiddleWithLevelsAroundItIsAPeak) {
    EXPECT_EQ(classOf(between(0.45, 0.55)), "peak");
}

TEST(PatternRule, ItsLimits) {
    // Made evenly over the first so much of the run, a third makes three quarters at 4/9 of it.
    EXPECT_EQ(classOf(between(0, 0.43, 900)), "peak");
    EXPECT_EQ(classOf(between(0, 0.46, 900)), "growing");
    const PatternClass line = classify(between(0, 1), 120);
    EXPECT_NEAR(*line.densestThird, 1.0 / 3, 1e-9);
    EXPECT_NEAR(*line.lastQuarter, 0.25, 1e-9);
}

TEST(PatternRule, ScatterDoesNotMatter) {
    std::mt19937 random(7);
    for (int round = 0; round < 100; ++round) {
        Counts line = between(0, 1);
        Counts burst = between(0, 0.15, 120, 200);
        for (std::size_t at = 0; at < line.size(); ++at) {
            line[at] = random() % 20;
            burst[at] += random() % 3;
        }
        EXPECT_EQ(classOf(line), "growing");
        EXPECT_EQ(classOf(burst), "peak");
    }
}

TEST(PatternRule, NoneAtAllHasNoClass) {
    EXPECT_EQ(classOf(Counts(10)), "");
    EXPECT_EQ(classOf({}), "");
}

TEST(PatternRule, TheLastStepMayEndWithTheRun) {
    const PatternClass one = classify({8}, 0.4); // a run shorter than a step: evenly within it
    EXPECT_NEAR(*one.densestThird, 1.0 / 3, 1e-9);
    EXPECT_NEAR(*one.lastQuarter, 0.25, 1e-9);
}

TEST(PatternOfARun, IsCumulativePerThousandOperations) {
    Scene scene;
    for (std::uint64_t at = 1; at <= 2500; ++at)
        scene.malloc(at << 8, 16); // all kept for ever
    for (std::uint64_t at = 0; at < 2500; ++at)
        scene.free(0);
    const std::string document = scene.document();
    EXPECT_EQ(number(document, "pattern", "step"), 1000);
    EXPECT_TRUE(begins(document, "[[1000,1000],[2000,2000],[3000,2500],[4000,2500],[5000,2500]]",
                       "pattern", "long_lived"));
    EXPECT_TRUE(begins(document, "\"growing\"", "pattern", "class")) << "made over half of the run";
}

TEST(PatternOfARun, StepsDoubleInLongRuns) {
    Pattern pattern;
    for (std::uint64_t at = 0; at < 10'000'000; at += 100)
        pattern.addLongLived(at);
    Json json;
    pattern.write(json, 10'000'000);
    EXPECT_EQ(number(json.text(), "step"), 8000);
    EXPECT_NE(json.text().find("[10000000,100000]]"), std::string::npos);
    EXPECT_NE(json.text().find("[8000,80]"), std::string::npos);
}

} // namespace
} // namespace heapwright::profiler

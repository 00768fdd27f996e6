// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Curves of fixed length: however long the run, they are exact where they are.
#include <gtest/gtest.h>

#include "profiler/timeline.hpp"
#include "scene.hpp"

namespace heapwright::profiler {
namespace {

/// How often a key occurs in a document.
std::size_t occurrences(const std::string& text, const std::string& key) {
    std::size_t count = 0;
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1))
        ++count;
    return count;
}

/// A thousand times as long as was said, with one high and narrow peak.
std::string longRun(std::uint64_t said) {
    Plan plan = oneProcess();
    plan.duration = said;
    Scene scene(plan);
    for (std::uint64_t at = 1; at <= 20'000; ++at) {
        scene.after(50'000).malloc(at << 8, 16);
        if (at == 12'345)
            scene.after(1).malloc(1, 1'000'000'000).after(1).free(1);
    }
    return scene.document();
}

TEST(TimelineCurve, IsBoundedAndExactAtThePeakForAnyDuration) {
    for (const std::uint64_t said : {std::uint64_t{0}, millisecond, second, 1000 * second}) {
        const std::string document = longRun(said);
        const std::string timeline = after(document, "timeline");
        const std::size_t points = occurrences(timeline, "\"most_live_bytes\"");
        EXPECT_LE(points, 1000U);
        EXPECT_GE(points, said > 2 * second ? 2U : 400U) << said;
        EXPECT_EQ(number(document, "peak_live_bytes"), 1'000'000'000 + 12'345 * 16);
        EXPECT_EQ(occurrences(timeline, "\"live_bytes\":1000197520"), 1U);
        EXPECT_NE(timeline.find("\"operation\":20002,\"live_bytes\":320000,"), std::string::npos);
    }
}

TEST(TimelineCurve, APointHasTheLiveBytesOfItsTime) {
    Plan plan = oneProcess();
    Scene scene(plan);
    scene.after(500).malloc(0x1000, 10).after(1000).malloc(0x2000, 20).after(400).free(0x1000);
    scene.after(1000).malloc(0x3000, 5);
    const std::string timeline = after(scene.document(), "timeline");
    EXPECT_TRUE(timeline.starts_with("[{\"time_s\":1e-06,\"operation\":1,\"live_bytes\":10,"))
        << timeline;
    EXPECT_NE(
        timeline.find("{\"time_s\":2e-06,\"operation\":3,\"live_bytes\":20,\"live_objects\":1"),
        std::string::npos);
    EXPECT_NE(timeline.find("{\"time_s\":1.5e-06,\"operation\":2,\"live_bytes\":30"),
              std::string::npos)
        << "the peak";
}

TEST(SizesOverTime, AreThoseOfTheFiveCommonest) {
    Scene scene;
    for (std::uint64_t size = 1; size <= 8; ++size)
        for (std::uint64_t time = 0; time <= size; ++time)
            scene.after(300).malloc((size << 16) + (time << 8), size);
    const std::string document = scene.document();
    EXPECT_EQ(number(document, "sizes", "over_time", "size"), 8);
    const std::string series = after(document, "sizes", "over_time");
    const std::string sizes = series.substr(0, series.find("\"routines\""));
    EXPECT_EQ(occurrences(sizes, "\"size\":"), 5U);
    EXPECT_NE(sizes.find(",9]"), std::string::npos) << "all nine of size 8, at the end";
}

TEST(PhasesOfARun, AreEvenAndSumUp) {
    Scene scene;
    for (std::uint64_t at = 1; at <= 5000; ++at)
        scene.after(1).malloc(at << 8, 3);
    const std::string phases = after(scene.document(), "phases");
    EXPECT_LE(occurrences(phases, "\"long_lived\""), 200U);
    EXPECT_EQ(number(phases, "operation"), 32);
    EXPECT_EQ(number(phases, "long_lived"), 32);
    EXPECT_NE(phases.find("\"operation\":5000,"), std::string::npos);
}

} // namespace
} // namespace heapwright::profiler

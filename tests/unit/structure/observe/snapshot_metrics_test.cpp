// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/observe/snapshot_metrics.hpp>

#include <support/some_snapshot.hpp>

#include <gtest/gtest.h>

#include <string>

namespace heapwright::testing {
namespace {

template <std::size_t Room = 8192>
std::string metricsOf(const HeapSnapshot& snapshot, std::string_view program = "server") {
    FixedText<Room> text;
    SnapshotMetrics<FixedText<Room>>(snapshot, {"granary", program, 17}, text).write();
    return std::string(text.view());
}

TEST(SnapshotMetrics, HaveHelpATypeAndLabels) {
    const std::string text = metricsOf(someSnapshot());
    EXPECT_EQ(text.find("# HELP heapwright_live_objects Objects that the program has allocated and "
                        "not freed.\n# TYPE heapwright_live_objects gauge\n"
                        "heapwright_live_objects{allocator=\"granary\",program=\"server\","
                        "process=\"17\"} 8\n"),
              0U);
    EXPECT_NE(text.find("process=\"17\",size=\"16\"} 7\n"), std::string::npos);
    EXPECT_NE(text.find("process=\"17\",lock=\"shared\"} 10\n"), std::string::npos);
    EXPECT_TRUE(text.ends_with("\n# EOF\n"));
}

TEST(SnapshotMetrics, GiveCountersNoType) {
    const std::string text = metricsOf(someSnapshot());
    EXPECT_NE(text.find("heapwright_purges_total{"), std::string::npos);
    EXPECT_EQ(text.find("_total gauge"), std::string::npos);
    EXPECT_EQ(text.find(" counter\n"), std::string::npos);
}

TEST(SnapshotMetrics, QuoteTheNameOfTheProgram) {
    EXPECT_NE(metricsOf(HeapSnapshot(), "a\"b\\\n").find(R"(program="a\"b\\?",)"),
              std::string::npos);
}

TEST(SnapshotMetrics, FitTheTextOfTheLibraryWithAllPlacesInUse) {
    HeapSnapshot most;
    for (std::size_t at = 0; at < HeapSnapshot::mostClasses; ++at) {
        most.sizeClass(at, 16384 + at) = {
            .size = 16384 + at, .used = 4'000'000'000, .held = 5'000'000'000, .blocks = 1U << 30U};
    }
    const std::string text = metricsOf<64 * 1024>(most, "fifteen letters");
    EXPECT_TRUE(text.ends_with("\n# EOF\n"));
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The names that users give to moments, and the times that they mean.
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "../trace/trace_file.hpp"
#include "profiler/named_moments.hpp"
#include "trace/writer.hpp"

namespace heapwright::profiler {
namespace {

class NamesOfMoments : public testing::Test {
protected:
    NamesOfMoments() {
        trace::TraceWriter writer(file_.path());
        for (std::uint32_t process = 0; process < 2; ++process) {
            writer.process({.pid = 1 + process, .executable = "/bin/program", .arguments = {}});
            writer.thread(process);
        }
        for (const std::uint64_t time :
             {std::uint64_t{1'000'000'000}, std::uint64_t{3'000'000'000}}) {
            trace::Event event;
            event.time = event.began = time;
            event.address = time;
            event.size = 1;
            writer.add(event);
        }
        mark(writer, 0, 1'500'000'000, "load");
        mark(writer, 0, 2'500'000'000, "load");
        mark(writer, 1, 2'000'000'000, "child");
        writer.close();
    }

    static void mark(trace::TraceWriter& writer, std::uint32_t process, std::uint64_t time,
                     const std::string& name) {
        const trace::Mark fields{time, 0, static_cast<std::uint32_t>(name.size())};
        std::vector<std::byte> bytes(sizeof fields + name.size());
        std::memcpy(bytes.data(), &fields, sizeof fields);
        std::memcpy(bytes.data() + sizeof fields, name.data(), name.size());
        writer.record(trace::BlockKind::process, process, trace::record::mark, bytes);
    }

    std::uint64_t timeOf(const std::string& name,
                         std::uint32_t process = trace::Selection::all) const {
        const trace::Trace trace(file_.path());
        return NamedMoments(trace, process, {name}).times().at(0);
    }
    std::string refusalOf(const std::string& name,
                          std::uint32_t process = trace::Selection::all) const {
        try {
            timeOf(name, process);
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "accepted";
    }

    trace::TraceFile file_;
};

TEST_F(NamesOfMoments, AreSecondsPartsOfTheRunMarksAndTheEnd) {
    EXPECT_EQ(timeOf("1.5"), 1'500'000'000U);
    EXPECT_EQ(timeOf("0.123456789s"), 123'456'789U);
    EXPECT_EQ(timeOf("0%"), 1'000'000'000U) << "the first call";
    EXPECT_EQ(timeOf("25%"), 1'500'000'000U);
    EXPECT_EQ(timeOf("100%"), 3'000'000'000U);
    EXPECT_EQ(timeOf("end"), UINT64_MAX);
    EXPECT_EQ(timeOf("load"), 1'500'000'000U);
    EXPECT_EQ(timeOf("load#2"), 2'500'000'000U);
    EXPECT_EQ(timeOf("child"), 2'000'000'000U);
}

TEST_F(NamesOfMoments, ThePeakHasNoTimeBeforeThePass) {
    const trace::Trace trace(file_.path());
    const NamedMoments named(trace, trace::Selection::all, {"1", "peak", "2"});
    EXPECT_TRUE(named.hasPeak());
    EXPECT_EQ(named.times(), (std::vector<std::uint64_t>{1'000'000'000, 2'000'000'000}));
    Moment early;
    early.state.bytes = 1;
    Moment late;
    late.state.bytes = 2;
    Moment peak;
    peak.state.bytes = 9;
    const std::vector<NamedMoment> seen = named.seen({early, late}, peak);
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen[0].moment.state.bytes, 1U);
    EXPECT_EQ(seen[1].moment.state.bytes, 9U);
    EXPECT_EQ(seen[1].name, "peak");
    EXPECT_EQ(seen[2].moment.state.bytes, 2U);
}

TEST_F(NamesOfMoments, ThatMeanNothingAreRefusedWithTheMarks) {
    EXPECT_EQ(refusalOf("lode"), "there is no moment 'lode': it is no time, and the marks of the "
                                 "trace are load, child, load");
    EXPECT_EQ(refusalOf("load", 1), "there is no moment 'load': it is no time, and the marks of "
                                    "the trace are child");
    for (const char* name : {"load#3", "load#", "load#x", "-1", "101%", "1e99", "nan", "", "%"})
        EXPECT_NE(refusalOf(name), "accepted") << name;
}

} // namespace
} // namespace heapwright::profiler

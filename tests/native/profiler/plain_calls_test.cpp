// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The short path of the pass has the same document as the long one, which applies each event by
// itself. The random programs contain everything that ends a stretch.
#include <cstring>
#include <gtest/gtest.h>
#include <random>

#include "../trace/trace_file.hpp"
#include "profiler/pass.hpp"
#include "profiler/provenance.hpp"
#include "trace/stack_table.hpp"
#include "trace/writer.hpp"

namespace heapwright::profiler {
namespace {

using trace::Event;
using trace::Routine;

/// A program that gets addresses again, and sometimes does what none should.
class Wild {
public:
    Wild(unsigned seed, bool stacks) : random_(seed), stacks_(stacks) {}

    Event next() {
        Event event;
        time_ += random_() % 2000 == 0 ? 40'000'000 : random_() % 300;
        event.thread = static_cast<std::uint32_t>(random_() % 8 < 6 ? 0 : random_() % 4);
        event.time = event.began = time_;
        const auto kind = random_() % 100;
        if (kind < 2) {
            event.routine = Routine::free; // of null, or of what may not be there
            event.address = random_() % 2 == 0 ? 0 : someAddress();
        } else if (kind < 50 && !live_.empty()) {
            const std::size_t which = random_() % live_.size();
            event.routine = random_() % 2 == 0 ? Routine::free : Routine::operatorDelete;
            event.address = live_[which];
            live_[which] = live_.back();
            live_.pop_back();
        } else if (kind < 55 && !live_.empty()) {
            std::uint64_t& block = live_[random_() % live_.size()];
            event.routine = Routine::realloc;
            event.old = block;
            block = event.address = random_() % 2 == 0 ? block : someAddress();
            describe(event);
        } else {
            event.routine = random_() % 3 == 0 ? Routine::operatorNew : Routine::malloc;
            event.address = random_() % 200 == 0 ? 0 : someAddress();
            describe(event);
            if (event.address != 0)
                live_.push_back(event.address);
        }
        return event;
    }

private:
    std::uint64_t someAddress() {
        const std::uint64_t place = 16 * (1 + random_() % (time_ % 9 == 0 ? 100'000 : 2000));
        return 0x7000'0000 + place * (random_() % 100 == 0 ? 5000 : 1);
    }
    void describe(Event& event) {
        event.size = random_() % 50 == 0 ? random_() % 500'000 : random_() % 700;
        if (random_() % 3000 == 0)
            event.size = 0xFFFF'FFF0 + random_() % 32;
        event.usable = random_() % 500 == 0 ? 0 : (event.size + 23) / 16 * 16 - 8;
        event.stack = stacks_ ? static_cast<std::uint32_t>(1 + random_() % 300) : 0;
    }

    std::mt19937_64 random_;
    bool stacks_;
    std::uint64_t time_ = 0;
    std::vector<std::uint64_t> live_;
};

void write(const std::string& path, unsigned seed, bool stacks) {
    trace::WriterOptions options;
    options.flags |= stacks ? trace::flag::stacks : 0;
    trace::TraceWriter writer(path, options);
    writer.process({.pid = 1, .executable = "/bin/wild", .arguments = {}});
    writer.process({.pid = 2,
                    .parent = 0,
                    .cause = trace::Cause::fork,
                    .executable = "/bin/wild",
                    .arguments = {}});
    for (std::uint32_t thread = 0; thread < 4; ++thread)
        writer.thread(thread == 3 ? 1 : 0);
    Wild program(seed, stacks);
    for (int event = 0; event < 60'000; ++event)
        writer.add(program.next());
    writer.close();
}

template <typename Apply>
std::string documentOf(const std::string& path, const Apply& apply) {
    const trace::Trace trace(path);
    Profiler profiler(planOf(trace, trace::Selection::all));
    apply(trace, profiler);
    profiler.finish();
    Json json;
    json.beginObject();
    profiler.write(json);
    profiler.sites().write(json, trace::StackTable(trace));
    json.endObject();
    return json.text();
}

class WildPrograms : public testing::TestWithParam<unsigned> {};

TEST_P(WildPrograms, HaveOneProfileByEitherWay) {
    const trace::TraceFile file;
    write(file.path(), GetParam(), GetParam() % 2 == 0);
    const std::string expected =
        documentOf(file.path(), [](const trace::Trace& trace, Profiler& profiler) {
            trace::MergedEvents events(trace, {trace::Selection::all, true});
            for (Event event; events.next(event);)
                profiler.apply(event);
        });
    const std::string found =
        documentOf(file.path(), [](const trace::Trace& trace, Profiler& profiler) {
            pass(trace, trace::Selection::all, profiler);
        });
    std::size_t same = 0;
    while (same < std::min(expected.size(), found.size()) && expected[same] == found[same])
        ++same;
    EXPECT_EQ(found.substr(same, 80), expected.substr(same, 80))
        << "behind " << expected.substr(same > 300 ? same - 300 : 0, 300);
}

INSTANTIATE_TEST_SUITE_P(Seeds, WildPrograms, testing::Range(1U, 9U));

/// Long enough for a thread that decodes.
TEST(Pass, OfALongTraceIsDecodedAhead) {
    const trace::TraceFile file;
    {
        trace::TraceWriter writer(file.path());
        writer.process({.pid = 1, .executable = "/bin/wild", .arguments = {}});
        writer.thread(0);
        Event event;
        for (std::uint64_t call = 0; call < 300'000; ++call) {
            event.time = event.began = 100 * call;
            event.routine = call % 2 == 0 ? Routine::malloc : Routine::free;
            event.address = 0x1000;
            event.size = call % 2 == 0 ? 32 : 0;
            writer.add(event);
        }
        writer.close();
    }
    const trace::Trace trace(file.path());
    Profiler profiler(planOf(trace, trace::Selection::all));
    pass(trace, trace::Selection::all, profiler);
    EXPECT_EQ(profiler.state().operations, 300'000U);
    EXPECT_EQ(profiler.counts().ended, 150'000U);
    EXPECT_EQ(profiler.counts().bytes, 150'000U * 32);
}

} // namespace
} // namespace heapwright::profiler

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Random programs of two processes and five threads, and the live memory of their sites at a
// thousand moments. A model adds up all changes before each moment.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "../trace/trace_file.hpp"
#include "profiler/moments.hpp"
#include "profiler/pass.hpp"
#include "profiler/provenance.hpp"
#include "trace/stack_table.hpp"
#include "trace/writer.hpp"

namespace heapwright::profiler {
namespace {

using trace::Event;
using trace::Routine;

constexpr int calls = 20'000;
constexpr std::size_t asked = 1000;

/// What one call did to the live memory of a site.
struct Change {
    std::uint64_t time;
    std::uint32_t process;
    std::uint32_t stack;
    std::int64_t blocks;
    std::int64_t bytes;
};

struct Held {
    std::int64_t blocks = 0;
    std::int64_t bytes = 0;
    bool operator==(const Held&) const = default;
};

using Place = std::pair<std::uint32_t, std::uint32_t>; // process and stack
using LiveSites = std::map<Place, Held>;

class Program {
public:
    explicit Program(unsigned seed) : random_(seed) {}

    Event next(bool onlyFirstProcess) {
        const std::uint64_t pause = random_() % 200 == 0 ? 3'000'000 : 1 + random_() % 900;
        time_ += pause;
        Event event;
        event.thread = onlyFirstProcess ? 0 : static_cast<std::uint32_t>(random_() % 5);
        event.process = event.thread == 4 ? 1 : 0;
        event.time = event.began = time_;
        event.stack = static_cast<std::uint32_t>(1 + random_() % 70);
        std::map<std::uint64_t, Block>& live = live_[event.process];
        const auto kind = random_() % 10;
        if (live.empty() || kind < 5) {
            event.address = fresh(live);
            begin(event, someSize());
        } else if (kind < 8) {
            event.routine = Routine::free;
            event.address = someLive(live);
            end(event.address, event);
        } else {
            event.routine = Routine::realloc;
            event.began = time_ - random_() % pause;
            event.old = someLive(live);
            event.address = random_() % 2 == 0 ? event.old : fresh(live);
            reallocate(event);
        }
        return event;
    }

    /// The process has made its last call: its blocks are live no more after that.
    void endSecondProcess() {
        for (const auto& [address, block] : live_[1])
            changes_.push_back({lastOfSecond_, 1, block.stack, -1, -block.size});
        live_[1].clear();
    }

    std::uint64_t time() const { return time_; }
    void noteTime(const Event& event) {
        if (event.process == 1)
            lastOfSecond_ = event.time;
    }
    std::uint64_t timeOfSome() {
        return random_() % 3 == 0 ? changes_[random_() % changes_.size()].time
                                  : random_() % (time_ + time_ / 50);
    }

    /// The sites with live blocks before each of the times, which ascend.
    std::vector<LiveSites> before(const std::vector<std::uint64_t>& times) {
        std::stable_sort(changes_.begin(), changes_.end(),
                         [](const Change& a, const Change& b) { return a.time < b.time; });
        std::vector<LiveSites> all;
        LiveSites now;
        auto next = changes_.begin();
        for (const std::uint64_t time : times) {
            for (; next != changes_.end() && next->time < time; ++next) {
                Held& site = now[{next->process, next->stack}];
                site.blocks += next->blocks;
                site.bytes += next->bytes;
            }
            std::erase_if(now, [](const auto& each) { return each.second == Held{}; });
            all.push_back(now);
        }
        return all;
    }

private:
    struct Block {
        std::int64_t size;
        std::uint32_t stack;
    };

    std::uint64_t fresh(const std::map<std::uint64_t, Block>& live) {
        std::uint64_t address = 0;
        do
            address = 0x5000'0000 + 16 * (random_() % 30'000);
        while (live.contains(address));
        return address;
    }
    std::uint64_t someLive(const std::map<std::uint64_t, Block>& live) {
        const auto after = live.lower_bound(0x5000'0000 + 16 * (random_() % 30'000));
        return after == live.end() ? live.begin()->first : after->first;
    }
    std::uint64_t someSize() { return random_() % 3 == 0 ? random_() % 100'000 : random_() % 100; }

    void begin(Event& event, std::uint64_t size) {
        event.size = size;
        const auto bytes = static_cast<std::int64_t>(size);
        live_[event.process][event.address] = {bytes, event.stack};
        changes_.push_back({event.time, event.process, event.stack, 1, bytes});
    }
    void end(std::uint64_t address, const Event& event) {
        const Block block = live_[event.process].at(address);
        live_[event.process].erase(address);
        changes_.push_back({event.time, event.process, block.stack, -1, -block.size});
    }
    void reallocate(Event& event) {
        const std::uint64_t size = someSize();
        Block& block = live_[event.process].at(event.old);
        const auto bytes = static_cast<std::int64_t>(size);
        if (event.address == event.old && bytes <= block.size) { // the block keeps its site
            event.size = size;
            changes_.push_back({event.time, event.process, block.stack, 0, bytes - block.size});
            block.size = bytes;
            return;
        }
        end(event.old, event);
        begin(event, size);
    }

    std::mt19937_64 random_;
    std::map<std::uint64_t, Block> live_[2];
    std::vector<Change> changes_;
    std::uint64_t time_ = 0;
    std::uint64_t lastOfSecond_ = 0;
};

/// Runs the program into a trace.
void write(const std::string& path, Program& program) {
    trace::WriterOptions options;
    options.flags |= trace::flag::stacks;
    trace::TraceWriter writer(path, options);
    writer.process({.pid = 1, .executable = "/bin/random", .arguments = {}});
    writer.process({.pid = 2,
                    .parent = 0,
                    .cause = trace::Cause::fork,
                    .executable = "/bin/random",
                    .arguments = {}});
    for (std::uint32_t thread = 0; thread < 5; ++thread)
        writer.thread(thread == 4 ? 1 : 0);
    for (int call = 0; call < calls; ++call) {
        if (call == calls * 3 / 4)
            program.endSecondProcess();
        const Event event = program.next(call >= calls * 3 / 4);
        program.noteTime(event);
        writer.add(event);
    }
    writer.close();
}

LiveSites sitesOf(const Profiler& profiler, const Moment& moment) {
    LiveSites held;
    for (const Moment::Held& each : moment.held) {
        const Site& site = profiler.sites().all()[each.site];
        held[{site.process, site.stack}] = {static_cast<std::int64_t>(each.blocks),
                                            static_cast<std::int64_t>(each.bytes)};
    }
    return held;
}

class ThousandMoments : public testing::TestWithParam<unsigned> {};

TEST_P(ThousandMoments, HaveTheLiveBytesOfAllSites) {
    const trace::TraceFile file;
    Program program(GetParam());
    write(file.path(), program);
    std::vector<std::uint64_t> times;
    while (times.size() < asked)
        times.push_back(program.timeOfSome());
    std::sort(times.begin(), times.end());
    const std::vector<LiveSites> expected = program.before(times);
    std::vector<std::uint64_t> descending(times.rbegin(), times.rend()); // any order will do
    const trace::Trace trace(file.path());
    Profiler profiler(planOf(trace, trace::Selection::all), nullptr, nullptr,
                      {.times = descending});
    pass(trace, trace::Selection::all, profiler);
    profiler.finish();
    std::vector<Moment> moments = profiler.moments().byTime();
    std::reverse(moments.begin(), moments.end());
    ASSERT_EQ(moments.size(), asked);
    for (std::size_t at = 0; at < asked; ++at) {
        const Moment& moment = moments[at];
        EXPECT_EQ(moment.state.time, std::min(times[at], program.time()));
        std::uint64_t bytes = 0;
        std::uint64_t blocks = 0;
        for (const Moment::Held& each : moment.held) {
            bytes += each.bytes;
            blocks += each.blocks;
        }
        ASSERT_EQ(bytes, moment.state.bytes) << "at " << times[at];
        ASSERT_EQ(blocks, moment.state.objects) << "at " << times[at];
        ASSERT_EQ(sitesOf(profiler, moment), expected[at]) << "at " << times[at];
    }
}

TEST_P(ThousandMoments, AMomentAfterAnOperationIsThePeak) {
    const trace::TraceFile file;
    Program program(GetParam());
    write(file.path(), program);
    const trace::Trace trace(file.path());
    const Plan plan = planOf(trace, trace::Selection::all);
    Profiler first(plan);
    pass(trace, trace::Selection::all, first);
    first.finish();
    Profiler again(plan, nullptr, nullptr,
                   {.times = {}, .afterOperations = first.peak().operations});
    pass(trace, trace::Selection::all, again);
    again.finish();
    const Moment* const moment = again.moments().byOperation();
    ASSERT_NE(moment, nullptr);
    EXPECT_EQ(moment->state.bytes, first.peak().bytes);
    EXPECT_EQ(moment->state.objects, first.peak().objects);
    EXPECT_EQ(sitesOf(again, *moment), sitesOf(first, first.sites().atPeak(first.peak())));
}

INSTANTIATE_TEST_SUITE_P(Seeds, ThousandMoments, testing::Range(1U, 5U));

} // namespace
} // namespace heapwright::profiler

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading returns what was written. The tests write random events of every routine, with addresses
// and sizes from the usual to the absurd, in one thread and in many.
#include <algorithm>
#include <gtest/gtest.h>
#include <random>

#include "trace/reader.hpp"
#include "trace/writer.hpp"
#include "trace_file.hpp"

namespace heapwright::trace {
namespace {

class Draw {
public:
    explicit Draw(unsigned seed) : random_(seed) {}

    /// Of all magnitudes alike often.
    std::uint64_t any() { return random_() >> (random_() % 64); }
    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

    std::uint64_t address() {
        const std::uint64_t kind = below(20);
        if (kind == 0)
            return any();
        if (kind == 1)
            return 0;
        if (kind == 2)
            return 0x5555'0000'0000 + 8 * below(1 << 20);
        return (kind < 8 ? 0x7FFF'0000'0000 : 0x5555'0000'0000) + 16 * below(1 << 16);
    }

    Event event(std::uint32_t thread, std::uint64_t& time, bool stacks) {
        static constexpr unsigned numbers[] = {0,  0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                               12, 16, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25};
        Event event;
        event.routine = static_cast<Routine>(numbers[below(std::size(numbers))]);
        event.thread = thread;
        time += below(100) == 0 ? any() >> 24 : below(400);
        event.time = event.began = time;
        event.address = address();
        if (isFree(event.routine))
            return event;
        event.size = below(10) == 0 ? any() : 8 * below(40);
        event.usable = below(10) == 0  ? any()
                       : below(5) == 0 ? 0
                                       : (event.size + 23) & ~std::uint64_t{15};
        event.stack = stacks ? static_cast<std::uint32_t>(below(30) == 0 ? any() : below(50)) : 0;
        if (isRealloc(event.routine)) {
            event.old = address();
            time += below(500);
            event.time = time;
        }
        if (hasAlignment(event.routine))
            event.alignment = below(5) == 0 ? any() : std::uint64_t{1} << below(20);
        return event;
    }

private:
    std::mt19937_64 random_;
};

void writeAndRead(std::uint32_t threads, int each, bool stacks, unsigned seed) {
    const TraceFile file;
    Draw draw(seed);
    std::vector<std::vector<Event>> expected(threads);
    {
        TraceWriter writer(file.path(), {.flags = stacks ? flag::stacks : 0});
        writer.process({.pid = 77, .executable = "/bin/x", .arguments = {"x", "", "y z"}});
        std::vector<std::uint64_t> times(threads);
        for (std::uint32_t thread = 0; thread < threads; ++thread)
            ASSERT_EQ(writer.thread(0), thread);
        for (int event = 0; event < each * static_cast<int>(threads); ++event) {
            const auto thread = static_cast<std::uint32_t>(draw.below(threads));
            expected[thread].push_back(draw.event(thread, times[thread], stacks));
            writer.add(expected[thread].back());
        }
        writer.close();
    }
    const Trace trace(file.path());
    EXPECT_EQ(trace.faultCount(), 0U);
    EXPECT_TRUE(trace.complete());
    EXPECT_EQ(trace.events(), static_cast<std::uint64_t>(each) * threads);
    ASSERT_EQ(trace.processes().size(), 1U);
    EXPECT_EQ(trace.processes()[0].executable, "/bin/x");
    EXPECT_EQ(trace.processes()[0].arguments, (std::vector<std::string>{"x", "", "y z"}));
    std::vector<Event> all;
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
        ThreadEvents events(trace, thread);
        Event event;
        for (const Event& written : expected[thread]) {
            ASSERT_TRUE(events.next(event));
            ASSERT_EQ(event, written);
            all.push_back(written);
        }
        EXPECT_FALSE(events.next(event));
    }
    std::stable_sort(all.begin(), all.end(), [](const Event& left, const Event& right) {
        return std::pair(left.time, left.thread) < std::pair(right.time, right.thread);
    });
    MergedEvents merged(trace);
    Event event;
    for (const Event& written : all) {
        ASSERT_TRUE(merged.next(event));
        ASSERT_EQ(event, written);
    }
    EXPECT_FALSE(merged.next(event));
    EXPECT_EQ(trace.faultCount(), 0U);
}

TEST(RoundTrip, OneThread) {
    writeAndRead(1, 100'000, false, 1);
}
TEST(RoundTrip, WithStacks) {
    writeAndRead(1, 100'000, true, 2);
}
TEST(RoundTrip, ManyThreads) {
    writeAndRead(40, 5'000, true, 3);
}
TEST(RoundTrip, NoEvents) {
    writeAndRead(1, 0, false, 4);
}

TEST(RoundTrip, ShortTraces) {
    for (int events = 1; events < 60; ++events)
        writeAndRead(2, events, events % 2 == 0, static_cast<unsigned>(events));
}

TEST(RoundTrip, TenThousandThreads) {
    writeAndRead(10'000, 20, false, 5);
}

} // namespace
} // namespace heapwright::trace

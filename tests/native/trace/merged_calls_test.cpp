// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of calls have the same content as single events. They have the same calls in the same order,
// and the same faults, of traces with every kind of call, sound and damaged.
#include <gtest/gtest.h>
#include <random>
#include <utility>
#include <vector>

#include "trace/merged_calls.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"
#include "trace_file.hpp"

namespace heapwright::trace {
namespace {

struct Shape {
    std::uint32_t threads = 3;
    int events = 20'000;
    bool stacks = false;
    unsigned turn = 4; ///< calls of one thread before another's, about
};

Event someEvent(std::mt19937_64& random, bool stacks) {
    constexpr Routine routines[] = {
        Routine::malloc,  Routine::malloc,       Routine::operatorNew, Routine::calloc,
        Routine::realloc, Routine::free,         Routine::free,        Routine::operatorDelete,
        Routine::cfree,   Routine::posixMemalign};
    Event event;
    event.routine = routines[random() % std::size(routines)];
    event.address = random() % 50 == 0 ? 0 : 0x5555'0000 + 16 * (random() % 3000);
    if (random() % 60 == 0)
        event.address += random() << 40 | 8;
    if (isFree(event.routine))
        return event;
    event.size = random() % 40 == 0 ? random() >> (random() % 64) : 8 * (random() % 300);
    event.usable = random() % 30 == 0 ? 0 : event.size + random() % 24;
    event.stack = stacks && random() % 10 != 0 ? static_cast<std::uint32_t>(random() % 4000) : 0;
    if (isRealloc(event.routine) && random() % 4 != 0)
        event.old = 0x5555'0000 + 16 * (random() % 3000);
    if (hasAlignment(event.routine))
        event.alignment = 64;
    return event;
}

std::vector<std::byte> sample(unsigned seed, const Shape& shape) {
    const TraceFile file;
    WriterOptions options;
    options.flags |= shape.stacks ? flag::stacks : 0;
    options.ticksPerSecond = 250'000'000;
    TraceWriter writer(file.path(), options);
    for (std::uint32_t process = 0; process < 2; ++process)
        writer.process({.pid = 5 + process, .executable = "/bin/wild", .arguments = {}});
    for (std::uint32_t thread = 0; thread < shape.threads; ++thread)
        writer.thread(thread % 2);
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> last(shape.threads);
    std::uint64_t time = 0;
    std::uint32_t thread = 0;
    for (int number = 0; number < shape.events; ++number) {
        if (random() % shape.turn == 0)
            thread = static_cast<std::uint32_t>(random() % shape.threads);
        time += random() % 3 == 0 ? 0 : random() % 2000;
        Event event = someEvent(random, shape.stacks);
        event.thread = thread;
        event.time = event.began = time;
        if (isRealloc(event.routine))
            event.began = std::max(last[thread], time - std::min<std::uint64_t>(time, 900));
        last[thread] = time;
        writer.add(event);
    }
    writer.close();
    return file.bytes();
}

std::vector<Event> oneByOne(const Trace& trace, std::uint32_t process) {
    std::vector<Event> all;
    MergedEvents events(trace, {process, true});
    for (Event event; events.next(event);)
        all.push_back(event);
    return all;
}

Event eventOf(const CallRun& run, const Call& call) {
    if (call.kind == CallKind::other || call.kind == CallKind::inPlace)
        return run.chunk->others[call.stack];
    Event event;
    event.routine = call.routine;
    event.process = run.process;
    event.thread = run.thread;
    event.time = event.began = call.time;
    event.address = call.address;
    if (call.kind == CallKind::allocation) {
        event.size = call.size;
        event.usable = call.usable;
        event.stack = call.stack;
    }
    return event;
}

std::vector<Event> inRuns(const Trace& trace, std::uint32_t process) {
    std::vector<Event> all;
    MergedCalls calls(trace, process);
    std::vector<CallRun> waiting; // some are read later, as by another thread
    const auto read = [&](const CallRun& run) {
        for (std::size_t at = 0; at < run.count; ++at)
            all.push_back(eventOf(run, run.calls[at]));
        calls.done(run);
    };
    for (CallRun run; calls.next(run);) {
        waiting.push_back(run);
        if (waiting.size() == 50) {
            for (const CallRun& each : waiting)
                read(each);
            waiting.clear();
        }
    }
    for (const CallRun& each : waiting)
        read(each);
    return all;
}

/// What calls do not say.
Event plain(Event event) {
    if (isFree(event.routine))
        event.alignment = 0; // which only a damaged trace says
    if (isAllocation(event.routine) && event.address != 0 && event.old == 0 &&
        (event.size | event.usable) >> 32 == 0) {
        event.alignment = 0;
        event.began = event.time;
    }
    return event;
}

void expectTheSame(std::span<const std::byte> bytes, std::uint32_t process) {
    const Trace first(bytes);
    const Trace second(bytes);
    const std::vector<Event> expected = oneByOne(first, process);
    const std::vector<Event> found = inRuns(second, process);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t at = 0; at < found.size(); ++at)
        ASSERT_EQ(found[at], plain(expected[at])) << at;
    ASSERT_EQ(second.faultCount(), first.faultCount());
    for (std::size_t at = 0; at < first.faults().size(); ++at) {
        EXPECT_EQ(second.faults()[at].offset, first.faults()[at].offset) << at;
        EXPECT_EQ(second.faults()[at].what, first.faults()[at].what) << at;
    }
}

class Runs : public testing::TestWithParam<unsigned> {};

TEST_P(Runs, AreTheEventsOneByOne) {
    const unsigned seed = GetParam();
    Shape shape;
    shape.threads = 1 + seed % 5;
    shape.stacks = seed % 2 == 0;
    shape.turn = seed % 3 == 0 ? 500 : 3;
    const std::vector<std::byte> bytes = sample(seed, shape);
    for (const std::uint32_t process : {Selection::all, 0U, 1U})
        expectTheSame(bytes, process);
}

TEST_P(Runs, OfADamagedTraceToo) {
    Shape shape;
    shape.stacks = GetParam() % 2 == 0;
    std::vector<std::byte> bytes = sample(GetParam(), shape);
    std::mt19937 random(GetParam());
    for (int change = 0; change < 12; ++change)
        bytes[pageSize + random() % (bytes.size() - pageSize)] ^=
            static_cast<std::byte>(1U << random() % 8);
    expectTheSame(bytes, Selection::all);
    // Blocks that are open have no checksum: what is in them is decoded as far as it goes.
    bytes = sample(GetParam() + 100, shape);
    for (std::size_t at = pageSize; at + sizeof(BlockHeader) < bytes.size(); at += pageSize) {
        BlockHeader block;
        std::memcpy(&block, &bytes[at], sizeof block);
        if (block.magic != blockMagic || block.kind != BlockKind::events)
            continue;
        block.state = state::open;
        std::memcpy(&bytes[at], &block, sizeof block);
        for (int change = 0; change < 3; ++change)
            bytes[at + sizeof block + random() % 4000] ^=
                static_cast<std::byte>(1U << random() % 8);
    }
    expectTheSame(bytes, Selection::all);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Runs, testing::Range(1U, 13U));

} // namespace
} // namespace heapwright::trace

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Traces that are being written, or whose writer was killed. Clocks whose time decreases. The
// growth of a file.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "memory_trace.hpp"
#include "trace/reader.hpp"
#include "trace/seal.hpp"
#include "trace_file.hpp"

namespace heapwright::trace {
namespace {

std::vector<Event> all(const Trace& trace, Selection selection = {}) {
    std::vector<Event> found;
    MergedEvents events(trace, selection);
    for (Event event; events.next(event);)
        found.push_back(event);
    return found;
}

TEST(Live, EachEventIsThereOnceItIsWritten) {
    MemoryTrace memory;
    Encoder encoder{};
    memory.open(encoder, 0, 0, 1500, 1);
    for (std::uint64_t count = 0; encoder.hasRoom(); ++count) {
        if (count % 50 == 0) {
            const Trace trace(memory.file());
            EXPECT_EQ(trace.events(), count);
            EXPECT_EQ(all(trace).size(), count);
            EXPECT_EQ(trace.faultCount(), 0U);
            EXPECT_FALSE(trace.complete());
        }
        if (count % 3 == 0)
            encoder.reallocated(Routine::realloc, 1500 + 10 * count, 1505 + 10 * count, 0x8008,
                                0x9000 + 16 * count, count, count + 8);
        else
            encoder.allocated(Routine::malloc, 1500 + 10 * count, 0x8000 + 16 * count, count,
                              count + 8);
    }
    encoder.seal(true);
    const Trace trace(memory.file());
    EXPECT_EQ(all(trace).size(), trace.events());
    EXPECT_TRUE(trace.threads()[0].ended);
    EXPECT_EQ(trace.threads()[0].threadId, 100U);
}

/// A trace that a killed writer left, with one event block and one block of records open.
class LeftOpen {
public:
    LeftOpen() {
        Encoder encoder{};
        memory_.open(encoder, 0, 0, 1500);
        for (std::uint64_t count = 0; count < 100; ++count)
            encoder.allocated(Routine::malloc, 1600 + count, 0x8000 + 16 * count, count, count + 8);
        const std::span<const std::byte> bytes = memory_.file();
        file_.write({bytes.begin(), bytes.end()});
    }

    Trace trace() const { return Trace(file_.path()); }
    const std::string& path() const { return file_.path(); }

    /// The events of the trace, and the faults, after one byte of an event has changed.
    std::uint64_t faultsWithDamage() const {
        std::vector<std::byte> bytes = file_.bytes();
        bytes[trace().blocks()[0].offset + sizeof(BlockHeader) + 40] ^= std::byte{0x55};
        TraceFile damaged;
        damaged.write(bytes);
        const Trace trace(damaged.path());
        all(trace);
        return trace.faultCount();
    }

private:
    MemoryTrace memory_;
    TraceFile file_;
};

TEST(Seal, ABlockThatWasLeftOpenGetsItsCountsAndAChecksum) {
    const LeftOpen left;
    const std::vector<Event> before = all(left.trace());
    EXPECT_FALSE(left.trace().blocks()[0].sealed);
    EXPECT_EQ(sealOpenBlocks(left.path()), 1U);
    const Trace trace = left.trace();
    EXPECT_TRUE(trace.blocks()[0].sealed);
    EXPECT_EQ(trace.blocks()[0].events, 100U);
    EXPECT_EQ(trace.blocks()[0].lastTicks, 1699U - 1000U);
    const std::vector<Event> after = all(trace);
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t at = 0; at < after.size(); ++at) {
        EXPECT_EQ(after[at].address, before[at].address);
        EXPECT_EQ(after[at].time, before[at].time);
    }
    EXPECT_EQ(trace.faultCount(), 0U);
    EXPECT_EQ(sealOpenBlocks(left.path()), 0U);
}

TEST(Seal, AChangedByteOfAnEventIsFoundAfterwards) {
    const LeftOpen left;
    sealOpenBlocks(left.path());
    EXPECT_EQ(left.faultsWithDamage(), 1U);
}

TEST(Live, AClaimedBlockThatWasNeverBegunIsAHole) {
    MemoryTrace memory;
    Encoder encoder{};
    memory.claim(2);
    memory.open(encoder, 0, 0, 1500);
    encoder.freed(Routine::free, 1600, 0x1000);
    memory.claim();
    const Trace trace(memory.file());
    const std::vector<Event> events = all(trace);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].time, 600U);
    EXPECT_EQ(trace.faultCount(), 0U);
}

TEST(Live, RecordsAreReadAsFarAsTheyArePublished) {
    MemoryTrace memory;
    BlockHeader* const block = beginRecords(memory.claim(), BlockKind::system, 0, 0, 0, 0);
    const char text[] = "what somebody saw";
    for (std::size_t count = 0; count < 5; ++count) {
        EXPECT_EQ(Trace(memory.file()).system().size(), count);
        ASSERT_TRUE(appendRecord(*block, 7, Piece{text, 3 + count}, Piece{text, 2}));
    }
    std::size_t count = 5;
    while (appendRecord(*block, 7, Piece{text, 11}))
        ++count;
    sealRecords(*block, 9);
    const Trace trace(memory.file());
    ASSERT_EQ(trace.system().size(), count);
    EXPECT_EQ(trace.system()[4].bytes.size(), 9U);
    EXPECT_EQ(trace.system()[4].type, 7U);
    EXPECT_EQ(trace.faultCount(), 0U);
}

TEST(Live, AClockThatDecreasesIsHeldAndCounted) {
    MemoryTrace memory;
    Encoder encoder{};
    memory.open(encoder, 0, 0, 2000);
    for (const std::uint64_t time : {2000U, 2500U, 2400U, 2450U, 2600U})
        encoder.freed(Routine::free, time, 0x1000);
    encoder.seal();
    memory.open(encoder, 0, 1, 2300); // and between two blocks
    encoder.freed(Routine::free, 2350, 0x1000);
    encoder.seal();
    const Trace trace(memory.file());
    EXPECT_EQ(trace.threads()[0].backwards, 2U);
    ThreadEvents events(trace, 0);
    std::vector<std::uint64_t> times;
    for (Event event; events.next(event);)
        times.push_back(event.time);
    EXPECT_EQ(times, (std::vector<std::uint64_t>{1000, 1500, 1500, 1500, 1600, 1600}));
    EXPECT_EQ(events.held(), 1U);
    ASSERT_EQ(trace.faultCount(), 1U);
    EXPECT_EQ(trace.faults()[0].what, "time decreases in thread 0");
}

TEST(Live, AMoveInTwoLetsTheOldBlockGoFirst) {
    MemoryTrace memory;
    Encoder mover{};
    Encoder other{};
    memory.open(mover, 0, 0, 1000);
    memory.open(other, 1, 0, 1000);
    mover.allocated(Routine::malloc, 1100, 0x1000, 8, 24);
    mover.reallocated(Routine::realloc, 1200, 1300, 0x1000, 0x2000, 100, 104);
    other.allocated(Routine::malloc, 1250, 0x1000, 8, 24); // gets the old block meanwhile
    mover.reallocated(Routine::realloc, 1400, 1450, 0x2000, 0x2000, 101, 104);
    mover.reallocated(Routine::realloc, 1500, 1550, 0x2000, 0, 1U << 30, 0);
    mover.reallocated(Routine::realloc, 1600, 1650, 0x2000, 0, 0, 0);
    const Trace trace(memory.file());
    const std::vector<Event> events = all(trace, {.splitMoves = true});
    std::vector<std::pair<std::uint64_t, Routine>> told;
    for (const Event& event : events)
        told.emplace_back(event.time, event.routine);
    using enum Routine;
    EXPECT_EQ(told, (std::vector<std::pair<std::uint64_t, Routine>>{{100, malloc},
                                                                    {200, release},
                                                                    {250, malloc},
                                                                    {300, realloc},
                                                                    {450, realloc},
                                                                    {550, realloc},
                                                                    {600, release},
                                                                    {650, realloc}}));
    EXPECT_EQ(events[1].address, 0x1000U);
    EXPECT_EQ(all(trace).size(), 6U);
}

TEST(Live, ThreadsAreMergedThatLiveAtDifferentTimes) {
    MemoryTrace memory(1100);
    for (std::uint32_t thread = 0; thread < 1000; ++thread) {
        Encoder encoder{};
        const std::uint64_t begin = 1000 + 37 * ((thread * 7919) % 1000);
        memory.open(encoder, thread, 0, begin);
        for (std::uint64_t event = 0; event < 5; ++event)
            encoder.freed(Routine::free, begin + 11 * event, 0x1000 + 16 * thread);
        encoder.seal(true);
    }
    const Trace trace(memory.file());
    const std::vector<Event> events = all(trace);
    ASSERT_EQ(events.size(), 5000U);
    for (std::size_t at = 1; at < events.size(); ++at)
        ASSERT_LE(std::pair(events[at - 1].time, events[at - 1].thread),
                  std::pair(events[at].time, events[at].thread));
}

TEST(Live, AFileGrowsUntilItsLimit) {
    const TraceFile file;
    const int open = ::open(file.path().c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(open, 0);
    FileHeader header = newHeader(Clock::monotonic, 0, 1'000'000'000, 0, 0);
    header.limit = 10 * pageSize;
    EXPECT_EQ(claim(header, open, pageSize), pageSize);
    EXPECT_EQ(claim(header, open, 4 * pageSize), 2 * pageSize);
    EXPECT_EQ(std::filesystem::file_size(file.path()), 6 * pageSize);
    EXPECT_EQ(claim(header, open, 8 * pageSize), 0U);
    EXPECT_EQ(header.stop, Stop::limit);
    EXPECT_EQ(claim(header, open, pageSize), 0U) << "once it has stopped it has stopped";
    ::close(open);
}

TEST(Live, MarksAreFoundByTimeAndUnknownRecordsAreSkipped) {
    MemoryTrace memory;
    const auto begin = [&](std::uint32_t process) {
        return beginRecords(memory.claim(), BlockKind::process, 0, process, 0, 0);
    };
    const auto mark = [](BlockHeader& block, std::uint64_t time, std::uint32_t signal,
                         std::string_view name) {
        const Mark fields{time, signal, static_cast<std::uint32_t>(name.size())};
        appendRecord(block, record::mark, Piece{&fields, sizeof fields},
                     Piece{name.data(), name.size()});
    };
    BlockHeader& first = *begin(0);
    const ProcessStart start{0, noProcess, 50, Cause::start, 0, 0, 0, 0, 1};
    appendRecord(first, record::processStart, Piece{&start, sizeof start});
    BlockHeader& second = *begin(0);
    mark(second, 700, 0, "loaded");
    appendRecord(second, 99, Piece{"later", 5}); // of a version that is not known here
    mark(second, 900, 12, "USR2");
    mark(*begin(1), 800, 0, "child");
    const Trace trace(memory.file());
    ASSERT_EQ(trace.marks().size(), 3U);
    EXPECT_EQ(trace.marks()[0].name, "loaded");
    EXPECT_EQ(trace.marks()[0].time, 700U);
    EXPECT_EQ(trace.marks()[1].name, "child");
    EXPECT_EQ(trace.marks()[1].process, 1U);
    EXPECT_EQ(trace.marks()[2].signal, 12U);
    EXPECT_EQ(trace.processes()[0].pid, 50U);
    EXPECT_EQ(trace.faultCount(), 0U);
}

TEST(Live, AMarkThatIsCutOrNamesTooMuchIsNoCrash) {
    MemoryTrace memory;
    BlockHeader& block = *beginRecords(memory.claim(), BlockKind::process, 0, 0, 0, 0);
    appendRecord(block, record::mark, Piece{"short", 5});
    const Mark fields{700, 0, UINT32_MAX};
    appendRecord(block, record::mark, Piece{&fields, sizeof fields}, Piece{"name", 4});
    const Trace trace(memory.file());
    ASSERT_EQ(trace.marks().size(), 1U);
    EXPECT_EQ(trace.marks()[0].name, "name");
    EXPECT_EQ(trace.faultCount(), 1U);
}

TEST(Live, ParentsAreFoundByTheirPid) {
    MemoryTrace memory;
    const auto tell = [&](std::uint32_t number, std::uint32_t pid, std::uint32_t parentPid) {
        BlockHeader* const block =
            beginRecords(memory.claim(), BlockKind::process, 0, number, 0, number);
        const ProcessStart start{number, noProcess, pid, Cause::start, 100 * number,
                                 0,      0,         0,   parentPid};
        appendRecord(*block, record::processStart, Piece{&start, sizeof start});
    };
    tell(0, 50, 1);
    tell(1, 51, 50);
    tell(2, 51, 50);
    const Trace trace(memory.file());
    ASSERT_EQ(trace.processes().size(), 3U);
    EXPECT_EQ(trace.processes()[0].parent, noProcess);
    EXPECT_EQ(trace.processes()[1].parent, 0U);
    EXPECT_EQ(trace.processes()[2].parent, 1U);
    EXPECT_EQ(trace.processes()[2].cause, Cause::exec);
    EXPECT_TRUE(trace.processes()[1].replaced);
}

} // namespace
} // namespace heapwright::trace

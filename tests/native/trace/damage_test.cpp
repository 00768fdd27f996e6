// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that are no traces, and traces that were cut, damaged, or are in the wrong order. The tests
// check the message, its place, and what can still be read.
#include <filesystem>
#include <gtest/gtest.h>
#include <random>
#include <string>

#include "memory_trace.hpp"
#include "trace/merged_calls.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"
#include "trace_file.hpp"

namespace heapwright::trace {
namespace {

std::vector<std::byte> sample(std::uint32_t threads = 3, int events = 9000) {
    const TraceFile file;
    TraceWriter writer(file.path());
    writer.process({.pid = 5, .executable = "/bin/sample", .arguments = {"sample"}});
    for (std::uint32_t thread = 0; thread < threads; ++thread)
        writer.thread(0);
    std::mt19937 random(7);
    for (int event = 0; event < events; ++event) {
        const std::uint64_t address = 0x10000 + 16 * (random() % 5000);
        const auto time = static_cast<std::uint64_t>(100 * event);
        writer.add({.routine = event % 2 == 0 ? Routine::malloc : Routine::free,
                    .thread = static_cast<std::uint32_t>(random()) % threads,
                    .time = time,
                    .began = time,
                    .address = address,
                    .size = event % 2 == 0 ? random() % 500 : 0});
    }
    writer.close();
    return file.bytes();
}

/// Reads everything; how many events there were.
std::uint64_t drain(const Trace& trace) {
    MergedEvents events(trace, {.splitMoves = true});
    std::uint64_t count = 0;
    std::uint64_t last = 0;
    for (Event event; events.next(event); ++count) {
        EXPECT_GE(event.time, last);
        last = event.time;
    }
    for (const BlockKind kind : {BlockKind::modules, BlockKind::stacks, BlockKind::system})
        count += trace.records(kind).size();
    return count;
}

std::string refusal(std::span<const std::byte> bytes, std::uint64_t& offset) {
    try {
        const Trace trace(bytes);
        return "";
    } catch (const TraceError& error) {
        offset = error.offset;
        return error.what();
    }
}

TEST(Damage, FilesThatAreNoTraces) {
    std::uint64_t offset = 99;
    EXPECT_EQ(refusal({}, offset), "the file is empty, at byte 0");
    const std::string other = "\x7F"
                              "ELF, or whatever somebody else has written";
    EXPECT_EQ(refusal(std::as_bytes(std::span(other)), offset),
              "this is no trace of Heapwright, at byte 0");
    std::vector<std::byte> bytes = sample();
    bytes[8] = std::byte{9};
    EXPECT_EQ(refusal(bytes, offset),
              "the trace is of format version 9; this program reads version 1, at byte 8");
    bytes = sample();
    std::swap(bytes[12], bytes[15]);
    EXPECT_NE(refusal(bytes, offset).find("byte order"), std::string::npos);
    EXPECT_EQ(offset, 12U);
    bytes = sample();
    std::memset(&bytes[32], 0, 8);
    EXPECT_NE(refusal(bytes, offset).find("clock"), std::string::npos);
    EXPECT_EQ(offset, 32U);
}

TEST(Damage, CutOffAtEachPlace) {
    const std::vector<std::byte> whole = sample();
    const std::uint64_t events = drain(Trace(whole));
    std::uint64_t offset = 0;
    for (std::size_t size = 1; size < pageSize; size += 13)
        EXPECT_NE(refusal(std::span(whole).first(size), offset), "") << size;
    std::uint64_t least = 0;
    for (std::size_t size = pageSize; size < whole.size(); size += 977) {
        // A copy of that size, so that a sanitizer sees what is read behind it.
        const std::vector<std::byte> cut(whole.begin(),
                                         whole.begin() + static_cast<std::ptrdiff_t>(size));
        const Trace trace(cut);
        ASSERT_GE(trace.faultCount(), 1U);
        EXPECT_EQ(trace.faults()[0].offset, size);
        const std::uint64_t left = drain(trace);
        EXPECT_LE(left, events);
        EXPECT_GE(left + 1, least) << "more of the file, fewer events";
        least = left;
    }
    EXPECT_GT(least, events / 2);
}

TEST(Damage, EachFlippedBitOfABlockIsSeen) {
    const std::vector<std::byte> whole = sample();
    const Trace good(whole);
    const std::uint64_t events = drain(good);
    std::mt19937 random(3);
    for (int round = 0; round < 600; ++round) {
        const BlockInfo& block = good.blocks()[random() % good.blocks().size()];
        const std::size_t at = block.offset + random() % (sizeof(BlockHeader) + block.used);
        std::vector<std::byte> bytes = whole;
        bytes[at] ^= static_cast<std::byte>(1U << (random() % 8));
        const Trace trace(bytes);
        const std::uint64_t left = drain(trace);
        EXPECT_GE(trace.faultCount(), 1U) << "byte " << at;
        EXPECT_LE(left, events + block.events) << "byte " << at;
    }
}

TEST(Damage, FlippedBitsAnywhereNeverCrash) {
    const std::vector<std::byte> whole = sample(2, 3000);
    std::mt19937 random(4);
    for (int round = 0; round < 400; ++round) {
        std::vector<std::byte> bytes = whole;
        for (int flips = 0; flips <= round % 20; ++flips) {
            const std::size_t region = random() % 2 == 0 ? 256 : bytes.size();
            bytes[random() % region] ^= static_cast<std::byte>(1U << (random() % 8));
        }
        std::uint64_t offset = 0;
        if (refusal(bytes, offset).empty())
            drain(Trace(bytes));
        else
            EXPECT_LT(offset, 256U);
    }
}

TEST(Damage, TheRestOfATraceIsRead) {
    std::vector<std::byte> bytes = sample(1, 60'000);
    const Trace good(bytes);
    const std::uint64_t events = drain(good);
    const BlockInfo hurt = good.blocks()[good.threads()[0].blocks[2]];
    bytes[hurt.offset + 200] ^= std::byte{4};
    const Trace trace(bytes);
    EXPECT_EQ(drain(trace), events - hurt.events);
    ASSERT_EQ(trace.faultCount(), 1U);
    EXPECT_EQ(trace.faults()[0].offset, hurt.offset);
    EXPECT_EQ(trace.faults()[0].what, "a block does not match its checksum");
    EXPECT_FALSE(trace.complete());
}

TEST(Damage, MissingAndSecondBlocksOfAThread) {
    MemoryTrace memory;
    Encoder encoder{};
    for (const std::uint32_t sequence : {0U, 1U, 1U, 4U}) {
        memory.open(encoder, 0, sequence, 2000 + 100 * sequence);
        encoder.freed(Routine::free, 2000 + 100 * sequence, 0x1000);
        encoder.seal();
    }
    const Trace trace(memory.file());
    EXPECT_EQ(drain(trace), 3U);
    ASSERT_EQ(trace.faultCount(), 2U);
    EXPECT_EQ(trace.faults()[0].what, "a second block with a number of thread 0 is left out");
    EXPECT_EQ(trace.faults()[1].what, "2 blocks of thread 0 are missing");
    EXPECT_EQ(trace.faults()[1].offset, 4 * pageSize);
}

TEST(Damage, NumbersThatCannotBe) {
    MemoryTrace memory;
    Encoder encoder{};
    memory.open(encoder, 4'000'000'000, 0, 2000);
    encoder.seal();
    const Trace trace(memory.file());
    EXPECT_TRUE(trace.threads().empty()) << "no table for four billion threads";
    ASSERT_EQ(trace.faultCount(), 1U);
    EXPECT_EQ(trace.faults()[0].offset, pageSize);
}

TEST(Damage, SizesOfABlockThatCannotBe) {
    for (const int shift : {31, 32, 63, 64, 127, 200, 255}) {
        MemoryTrace memory;
        Encoder encoder{};
        memory.open(encoder, 0, 0, 2000);
        encoder.freed(Routine::free, 2000, 0x1000);
        BlockHeader* const block = encoder.block();
        encoder.seal();
        block->sizeShift = static_cast<std::uint8_t>(shift);
        const Trace trace(memory.file());
        EXPECT_EQ(drain(trace), 0U) << shift;
        ASSERT_GE(trace.faultCount(), 1U) << shift;
        EXPECT_EQ(trace.faults()[0].what, "a block's header is damaged") << shift;
    }
}

TEST(Damage, EventsThatNoEncoderWrites) {
    MemoryTrace memory;
    Encoder encoder{};
    memory.open(encoder, 0, 0, 2000);
    encoder.freed(Routine::free, 2000, 0x1000);
    encoder.block()[1].magic = 0xFFFF'FFFF; // over the first bytes of the payload
    const Trace trace(memory.file());
    EXPECT_EQ(drain(trace), 0U);
    ASSERT_GE(trace.faultCount(), 1U);
    EXPECT_EQ(trace.faults()[0].what, "an unknown routine");
    EXPECT_EQ(trace.faults()[0].offset, pageSize + sizeof(BlockHeader) + 2);
}

TEST(Damage, AFileThatIsCutOffWhileItIsRead) {
    const auto cutWhileRead = [](const auto& read) {
        const TraceFile file;
        file.write(sample());
        const Trace trace(file.path());
        std::filesystem::resize_file(file.path(), pageSize);
        read(trace);
        ASSERT_GE(trace.faultCount(), 3U) << "the threads' first blocks at least";
        EXPECT_EQ(trace.faults()[0].what, cutOffSince);
    };
    cutWhileRead([](const Trace& trace) { EXPECT_EQ(drain(trace), 0U); });
    cutWhileRead([](const Trace& trace) {
        MergedCalls calls(trace);
        CallRun run;
        EXPECT_FALSE(calls.next(run));
    });
}

} // namespace
} // namespace heapwright::trace

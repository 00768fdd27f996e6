// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples whose truth is known, joined with blocks that are.
#include "profiler/system_view.hpp"

#include "../trace/trace_file.hpp"
#include "trace/writer.hpp"

#include <gtest/gtest.h>

namespace heapwright::profiler {
namespace {

using trace::SystemMapping;
using trace::SystemSample;

constexpr std::uint64_t mebibyte = 1 << 20;
constexpr std::uint64_t heap = 0x5555'0000'0000;
constexpr std::uint64_t arena = 0x7f00'0000'0000;     // a multiple of 64 MiB
constexpr std::uint64_t elsewhere = 0x7fff'0010'0000; // none

/// A trace with these samples of process 0; a tick is a nanosecond.
class Samples {
public:
    explicit Samples(const std::vector<SystemSample>& samples,
                     const std::vector<trace::RecorderMemory>& tables = {}) {
        trace::WriterOptions options;
        options.ticksPerSecond = 1'000'000'000;
        trace::TraceWriter writer(file_.path(), options);
        writer.process();
        for (const trace::RecorderMemory& table : tables) {
            writer.record(trace::BlockKind::process, 0, trace::record::recorderMemory,
                          std::as_bytes(std::span(&table, 1)));
        }
        trace::SystemEncoder encoder;
        for (std::size_t at = 0; at < samples.size(); ++at) {
            const std::string bytes = encoder.encode(samples[at], at == 0);
            writer.record(trace::BlockKind::system, 0,
                          at == 0 ? trace::record::systemComplete : trace::record::systemChanges,
                          std::as_bytes(std::span(bytes)));
        }
        writer.close();
    }

    const std::string& path() const { return file_.path(); }

private:
    trace::TraceFile file_;
};

SystemSample sample(std::uint64_t time, const std::vector<SystemMapping>& mappings) {
    SystemSample made;
    made.time = time;
    made.fixed = mebibyte;
    made.mappings = mappings;
    return made;
}

SystemMapping mapping(std::uint64_t begin, std::uint64_t mapped, std::uint64_t resident,
                      bool programBreak = false) {
    return {begin, begin + mapped, resident, programBreak};
}

TEST(SystemView, ResidentMemoryFallsIntoItsParts) {
    const Samples file({sample(1000, {mapping(heap, 8 * mebibyte, 6 * mebibyte, true),
                                      mapping(elsewhere, 4 * mebibyte, 2 * mebibyte)})});
    const trace::Trace trace(file.path());
    SystemView view(trace, 0);
    ASSERT_TRUE(view.present());
    view.advance(500, 0, 0);
    view.allocated(heap + 4096, 2 * mebibyte, 0);
    view.advance(2000, mebibyte, 2 * mebibyte);
    ASSERT_EQ(view.rows().size(), 1U);
    const SystemRow& row = view.rows()[0];
    EXPECT_NEAR(static_cast<double>(row.time), 1000, 1);
    EXPECT_EQ(row.live, mebibyte);
    EXPECT_EQ(row.waste, mebibyte);
    EXPECT_EQ(row.held, 4 * mebibyte);
    EXPECT_EQ(row.other, 3 * mebibyte) << "the other mapping, and what cannot be written";
    EXPECT_EQ(row.heapMapped, 8 * mebibyte);
    EXPECT_EQ(row.resident, 9 * mebibyte);
}

TEST(SystemView, PagesOfTheRecorderAreCountedApart) {
    SystemSample one = sample(1000, {mapping(heap, 8 * mebibyte, 6 * mebibyte, true),
                                     mapping(elsewhere, 4 * mebibyte, 3 * mebibyte)});
    one.trace = mebibyte;
    const Samples file({one}, {{elsewhere, elsewhere + 2 * mebibyte}});
    const trace::Trace trace(file.path());
    SystemView view(trace, 0);
    view.allocated(heap + 4096, 2 * mebibyte, 0);
    view.advance(2000, mebibyte, 2 * mebibyte);
    ASSERT_EQ(view.rows().size(), 1U);
    const SystemRow& row = view.rows()[0];
    EXPECT_EQ(row.recorder, 3 * mebibyte) << "the trace, and the table in the other mapping";
    EXPECT_EQ(row.other, 2 * mebibyte) << "what is left of that mapping, and the constant data";
    EXPECT_EQ(row.resident, 8 * mebibyte);
    EXPECT_EQ(row.heapResident, 6 * mebibyte);
}

TEST(SystemView, AMappingIsHeapOnlyWhileItIsTheOneInWhichBlocksWere) {
    const auto there = std::vector{mapping(elsewhere, mebibyte, mebibyte)};
    const Samples file({sample(1000, there), sample(2000, {}), sample(3000, there)});
    const trace::Trace trace(file.path());
    SystemView view(trace, 0);
    view.allocated(elsewhere + 16, 100, 0);
    view.advance(1500, 100, 100);
    view.freed(elsewhere + 16, 100, 0);
    view.finish(0, 0);
    ASSERT_EQ(view.rows().size(), 3U);
    EXPECT_EQ(view.rows()[0].heapResident, mebibyte);
    EXPECT_EQ(view.rows()[1].heapResident, 0U);
    EXPECT_EQ(view.rows()[2].heapResident, 0U) << "it has been unmapped in between";
}

TEST(SystemView, CountsOnlyTheBlocksWhereEachHasAMappingOfItsOwn) {
    // The system merges such a mapping with those of the program beside it.
    const Samples file({sample(1000, {mapping(elsewhere, 8 * mebibyte, 7 * mebibyte)}),
                        sample(2000, {mapping(elsewhere, 8 * mebibyte, 7 * mebibyte)})});
    const trace::Trace trace(file.path());
    SystemView view(trace, 0);
    view.allocated(elsewhere + 2 * mebibyte + 16, mebibyte - 16, 0);
    view.advance(1500, mebibyte - 16, mebibyte - 16);
    view.freed(elsewhere + 2 * mebibyte + 16, mebibyte - 16, 0);
    view.finish(0, 0);
    ASSERT_EQ(view.rows().size(), 2U);
    EXPECT_EQ(view.rows()[0].heapResident, mebibyte);
    EXPECT_EQ(view.rows()[0].held, 16U) << "the header";
    EXPECT_EQ(view.rows()[0].other, 7 * mebibyte) << "six, and the constant data";
    EXPECT_EQ(view.rows()[1].heapResident, 0U);
    EXPECT_EQ(view.rows()[1].held, 0U);
}

TEST(SystemView, CountsAllOfAMappingInWhichASmallBlockWas) {
    const Samples file({sample(1000, {mapping(elsewhere, 8 * mebibyte, 7 * mebibyte)})});
    const trace::Trace trace(file.path());
    SystemView view(trace, 0);
    view.allocated(elsewhere + 2 * mebibyte + 16, mebibyte - 16, 0);
    view.allocated(elsewhere + 4096 + 16, 100, 0);
    view.finish(mebibyte, mebibyte);
    EXPECT_EQ(view.rows()[0].heapResident, 7 * mebibyte);
}

TEST(SystemView, WhereMostWasHeld) {
    const Samples file({sample(1000, {mapping(heap, 4 * mebibyte, 4 * mebibyte, true),
                                      mapping(arena, 2 * mebibyte, 2 * mebibyte),
                                      mapping(elsewhere, mebibyte, mebibyte)})});
    const trace::Trace trace(file.path());
    SystemView view(trace, 0);
    view.allocated(heap + 64, 1000, 0);
    view.allocated(arena + 2 * mebibyte - 4096, 2000, 0);
    view.allocated(elsewhere + 64, 3000, 0);
    view.finish(6000, 6000);
    const MostHeld& most = view.mostHeld();
    EXPECT_EQ(most.programBreak.usable, 1000U);
    EXPECT_EQ(most.programBreak.freeTop, 4 * mebibyte - 4096);
    EXPECT_EQ(most.programBreak.pinned, 4096U);
    EXPECT_EQ(most.arenas.mappings, 1U);
    EXPECT_EQ(most.arenas.usable, 2000U);
    EXPECT_EQ(most.arenas.freeTop, 0U);
    EXPECT_EQ(most.mapped.usable, 3000U);
    EXPECT_EQ(most.mapped.resident, mebibyte);
}

TEST(SystemView, OnlyAFreedBlockWithItsOwnMappingRaisesGlibcsThresholds) {
    const Samples file({sample(1000, {mapping(heap, 4 * mebibyte, 4 * mebibyte, true)}),
                        sample(2000, {mapping(heap, 8 * mebibyte, 8 * mebibyte, true)})});
    const trace::Trace trace(file.path());
    SystemView view(trace, 0);
    for (const std::uint64_t address : {heap + 64, elsewhere + 16}) {
        view.allocated(address, mebibyte, 0);
    }
    view.freed(heap + 64, mebibyte, 0); // inside the heap
    view.advance(1000, mebibyte, mebibyte);
    EXPECT_EQ(view.mostHeld().largestUnmapped, 0U);
    view.freed(elsewhere + 16, mebibyte, 0);
    view.finish(0, 0);
    EXPECT_EQ(view.mostHeld().largestUnmapped, mebibyte);
}

/// What was held with `blocks` of `size` bytes, freed from the first to the last, or in reverse.
HeapPlace topAfterFrees(std::uint64_t size, std::uint64_t blocks, bool reverse) {
    const Samples file({sample(1000, {mapping(heap, 4 * mebibyte, 4 * mebibyte, true)})});
    const trace::Trace trace(file.path());
    SystemView view(trace, 0);
    const auto address = [&](std::uint64_t at) { return heap + 16 + at * (size + 8); };
    for (std::uint64_t at = 0; at < blocks; ++at) {
        view.allocated(address(at), size, 0);
    }
    for (std::uint64_t at = 0; at < blocks; ++at) {
        view.freed(address(reverse ? blocks - 1 - at : at), size, 0);
    }
    view.finish(0, 0);
    return view.mostHeld().programBreak;
}

TEST(SystemView, FreedBlocksThatGlibcDoesNotMergeStandAtTheTop) {
    const std::uint64_t most = 4 * mebibyte;
    const HeapPlace small = topAfterFrees(40, most / 48 - 1, false);
    EXPECT_GT(small.fastTop, most - 200);
    EXPECT_LT(small.cachedTop, 1000U) << "the first seven";
    const HeapPlace reversed = topAfterFrees(40, most / 48 - 1, true);
    EXPECT_GT(reversed.fastTop, most - 1000);
    EXPECT_GT(reversed.cachedTop, most - 1000);
    const HeapPlace large = topAfterFrees(1000, most / 1008 - 1, true);
    EXPECT_EQ(large.fastTop, 0U);
    EXPECT_GT(large.cachedTop, most - 5000);
    EXPECT_EQ(large.freeTop, most);
}

TEST(SystemView, ALargeRequestMergesSmallFreedBlocks) {
    const Samples file({sample(1000, {mapping(heap, 4 * mebibyte, 3 * mebibyte, true)}),
                        sample(2000, {mapping(heap, 4 * mebibyte, 4 * mebibyte, true)})});
    const trace::Trace trace(file.path());
    SystemView view(trace, 0);
    for (std::uint64_t at = 0; at < 8; ++at) { // one more than a cache keeps
        view.allocated(heap + 3 * mebibyte + 48 * at, 40, 0);
    }
    for (std::uint64_t at = 0; at < 8; ++at) {
        view.freed(heap + 3 * mebibyte + 48 * at, 40, 0);
    }
    view.advance(1000, 0, 0);
    EXPECT_GT(view.mostHeld().programBreak.fastTop, 3 * mebibyte);
    view.allocated(heap + 16, 2000, 0);
    view.finish(2000, 2000);
    EXPECT_EQ(view.mostHeld().programBreak.fastTop, 0U);
    EXPECT_EQ(view.mostHeld().programBreak.pinned, 4096U);
}

TEST(SystemView, ABlockOverSeveralPagesPinsThemAll) {
    const Samples file({sample(1000, {mapping(heap, 4 * mebibyte, 4 * mebibyte, true)})});
    const trace::Trace trace(file.path());
    SystemView view(trace, 0);
    view.allocated(heap + mebibyte - 100, mebibyte, 0);
    view.allocated(heap + 3 * mebibyte, 100, 0);
    view.freed(heap + 3 * mebibyte, 100, 0);
    view.finish(mebibyte, mebibyte);
    EXPECT_EQ(view.mostHeld().programBreak.pinned, mebibyte + 4096);
    EXPECT_EQ(view.mostHeld().programBreak.freeTop, 2 * mebibyte);
}

TEST(SystemView, RowsAreBoundedAndTheMostResidentIsKept) {
    std::vector<SystemSample> samples;
    for (std::uint64_t i = 0; i < 5000; ++i) {
        const std::uint64_t resident = i == 3333 ? 900 : i % 100;
        samples.push_back(sample(1000 * i, {mapping(heap, mebibyte, resident << 10, true)}));
    }
    const Samples file(samples);
    const trace::Trace trace(file.path());
    SystemView view(trace, 0);
    view.allocated(heap, 10, 0);
    view.finish(10, 10);
    EXPECT_LE(view.rows().size(), 1000U);
    EXPECT_GE(view.rows().size(), 500U);
    std::uint64_t most = 0;
    std::uint64_t time = 0;
    for (const SystemRow& row : view.rows()) {
        EXPECT_LE(time, row.time);
        time = row.time;
        most = std::max(most, row.heapResident);
    }
    EXPECT_EQ(most, 900U << 10);
}

TEST(SystemView, OfAnotherProcessThereIsNothing) {
    const Samples file({sample(1000, {})});
    const trace::Trace trace(file.path());
    EXPECT_FALSE(SystemView(trace, 1).present());
}

} // namespace
} // namespace heapwright::profiler

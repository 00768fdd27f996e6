// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <random>
#include <set>

#include "live_trace.hpp"

namespace heapwright::leakscan {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t heap = 0x7000'0000'0000;

TEST(PageSet, HoldsThePagesOfARange) {
    PageSet pages;
    pages.set(heap + page - 1, 2, true);
    EXPECT_TRUE(pages.has(heap));
    EXPECT_TRUE(pages.has(heap + 2 * page - 1));
    EXPECT_FALSE(pages.has(heap - 1));
    EXPECT_FALSE(pages.has(heap + 2 * page));
}

TEST(PageSet, IsThePlainSetOfNumbers) {
    std::mt19937_64 random(7);
    PageSet pages;
    std::set<std::uint64_t> plain;
    for (int step = 0; step < 300; ++step) {
        const std::uint64_t first = random() % 3000;
        const std::uint64_t count = 1 + random() % (step % 3 == 0 ? 1200 : 4);
        const bool in = random() % 3 != 0;
        pages.set(heap + first * page, count * page, in);
        for (std::uint64_t at = first; at < first + count; ++at) {
            in ? (void)plain.insert(at) : (void)plain.erase(at);
        }
    }
    for (std::uint64_t at = 0; at < 4300; ++at) {
        ASSERT_EQ(pages.has(heap + at * page), plain.contains(at)) << at;
    }
}

TEST(PageSet, ARangeBeyondAllAddressesIsNone) {
    PageSet pages;
    pages.set(~std::uint64_t{0} - 10, 100, true);
    EXPECT_FALSE(pages.has(heap));
}

TEST(LiveBlocks, AreTheBlocksWithoutAFree) {
    LiveBlocks live = LiveTrace()
                          .malloc(heap + 64, 20, 24)
                          .malloc(heap + 0, 40)
                          .malloc(heap + 128, 8)
                          .free(heap + 128)
                          .live();
    ASSERT_EQ(live.blocks().size(), 2u);
    EXPECT_EQ(live.blocks()[0].begin, heap);
    EXPECT_EQ(live.blocks()[1].begin, heap + 64);
    EXPECT_EQ(live.blocks()[1].size, 20u);
    EXPECT_EQ(live.blocks()[1].usable, 24u);
}

TEST(LiveBlocks, FollowAReallocThatMovesStaysOrEnds) {
    LiveBlocks live = LiveTrace()
                          .malloc(heap, 16)
                          .realloc(heap, heap + 512, 100)
                          .malloc(heap + 1024, 16)
                          .realloc(heap + 1024, heap + 1024, 24)
                          .malloc(heap + 2048, 16)
                          .realloc(heap + 2048, 0, 0)
                          .live();
    ASSERT_EQ(live.blocks().size(), 2u);
    EXPECT_EQ(live.blocks()[0].begin, heap + 512);
    EXPECT_EQ(live.blocks()[0].size, 100u);
    EXPECT_EQ(live.blocks()[1].begin, heap + 1024);
    EXPECT_EQ(live.blocks()[1].size, 24u);
}

TEST(LiveBlocks, AreFoundByAnyAddressInside) {
    LiveBlocks live = LiveTrace().malloc(heap, 16, 24).malloc(heap + 64, 0, 8).live();
    EXPECT_EQ(live.find(heap - 1), nullptr);
    EXPECT_EQ(live.find(heap), &live.blocks()[0]);
    EXPECT_EQ(live.find(heap + 23), &live.blocks()[0]);
    EXPECT_EQ(live.find(heap + 24), nullptr);
    EXPECT_EQ(live.find(heap + 64), &live.blocks()[1]);
    EXPECT_EQ(live.find(heap + 72), nullptr);
}

TEST(LiveBlocks, PagesOfAFreedLargeBlockAreTheAllocatorsNoMore) {
    const LiveBlocks live = LiveTrace()
                                .malloc(heap, 1 << 20)
                                .free(heap)
                                .malloc(heap + (4 << 20), 64)
                                .free(heap + (4 << 20))
                                .live();
    EXPECT_FALSE(live.pages().has(heap + page));
    EXPECT_TRUE(live.pages().has(heap + (4 << 20))); // small ones share theirs
}

TEST(LiveBlocks, ASizeBeyondAllMemoryIsBounded) {
    LiveBlocks live = LiveTrace().malloc(heap, ~std::uint64_t{0} >> 1).malloc(heap / 2, 16).live();
    ASSERT_EQ(live.blocks().size(), 2u);
    EXPECT_LE(live.blocks()[1].usable, std::uint64_t{1} << 46);
}

TEST(LiveBlocks, OfAForkedProcessThoseThatItInheritedAreAmongThem) {
    trace::TraceFile file;
    trace::TraceWriter writer(file.path());
    const std::uint32_t parent = writer.process(processOfNumber(77));
    const std::uint32_t before = writer.thread(parent);
    trace::ProcessText forked = processOfNumber(78, trace::Cause::fork);
    forked.parent = parent;
    forked.start = 250;
    const std::uint32_t child = writer.process(forked);
    const std::uint32_t after = writer.thread(child);
    const auto call = [&writer](trace::Routine routine, std::uint32_t process, std::uint32_t thread,
                                std::uint64_t time, std::uint64_t address) {
        trace::Event event;
        event.routine = routine;
        event.process = process;
        event.thread = thread;
        event.time = event.began = time;
        event.address = address;
        event.size = event.usable = trace::isFree(routine) ? 0 : 16;
        writer.add(event);
    };
    call(trace::Routine::malloc, parent, before, 100, heap);
    call(trace::Routine::malloc, parent, before, 200, heap + 64);
    call(trace::Routine::malloc, parent, before, 300, heap + 128); // after the fork
    call(trace::Routine::free, child, after, 400, heap);
    call(trace::Routine::malloc, child, after, 500, heap + 192);
    writer.close();
    const LiveBlocks live(trace::Trace(file.path()), child);
    ASSERT_EQ(live.blocks().size(), 2u);
    EXPECT_EQ(live.blocks()[0].begin, heap + 64);
    EXPECT_TRUE(live.blocks()[0].inherited);
    EXPECT_EQ(live.blocks()[1].begin, heap + 192);
    EXPECT_FALSE(live.blocks()[1].inherited);
    EXPECT_EQ(live.blocks()[1].born, 500u);
}

TEST(ProcessOf, TheLastOfThatNumber) {
    trace::TraceFile file;
    trace::TraceWriter writer(file.path());
    writer.process(processOfNumber(77));
    writer.process(processOfNumber(78, trace::Cause::fork));
    writer.process(processOfNumber(77, trace::Cause::exec));
    writer.close();
    const trace::Trace trace(file.path());
    EXPECT_EQ(processOf(trace, 77), 2u);
    EXPECT_EQ(processOf(trace, 78), 1u);
    EXPECT_EQ(processOf(trace, 79), std::nullopt);
}

} // namespace
} // namespace heapwright::leakscan

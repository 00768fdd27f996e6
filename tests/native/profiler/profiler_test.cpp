// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What each call means for the figures: the definitions of docs/reference/profile.md, one by one.
#include <gtest/gtest.h>

#include "scene.hpp"

namespace heapwright::profiler {
namespace {

using trace::Routine;

TEST(Totals, CountsEachCallThatReturnsABlockAsAllocation) {
    Scene scene;
    scene.malloc(0x1000, 10).call(Routine::calloc, 0x2000, 20).realloc(0, 0x3000, 30);
    scene.call(Routine::posixMemalign, 0x4000, 40).call(Routine::operatorNew, 0x5000, 50);
    EXPECT_EQ(scene.counts().allocations, 5U);
    EXPECT_EQ(scene.counts().bytes, 150U);
    EXPECT_EQ(scene.state().bytes, 150U);
    EXPECT_EQ(scene.counts().reallocOfNull, 1U);
    const std::string document = scene.document();
    EXPECT_EQ(number(document, "routines", "malloc", "count"), 2);
    EXPECT_EQ(number(document, "routines", "calloc", "share"), 0.2);
    EXPECT_EQ(number(document, "routines", "realloc", "bytes"), 30);
    EXPECT_EQ(number(document, "routines", "aligned", "count"), 1);
}

TEST(Totals, IgnoreFailedAllocationsAndFreesOfNull) {
    Scene scene;
    scene.malloc(0, 10).realloc(0, 0, 10).malloc(0x1000, 5).realloc(0x1000, 0, 100);
    scene.free(0).free(0);
    EXPECT_EQ(scene.counts().failed, 3U);
    EXPECT_EQ(scene.counts().frees, 2U);
    EXPECT_EQ(scene.counts().nullFrees, 2U);
    EXPECT_EQ(scene.counts().allocations, 1U);
    EXPECT_EQ(scene.state().bytes, 5U);
    EXPECT_EQ(scene.state().operations, 6U);
}

TEST(Totals, CountsAFreeOfAnUnknownBlock) {
    Scene scene;
    scene.free(0x1000).malloc(0x1000, 1).free(0x1000).free(0x1000).realloc(0x2000, 0x3000, 8);
    EXPECT_EQ(scene.counts().unknownFrees, 3U);
    EXPECT_EQ(scene.counts().allocations, 2U);
    EXPECT_EQ(scene.state().objects, 1U);
    EXPECT_EQ(scene.counts().ended, 1U);
}

TEST(Totals, AnAddressHandedOutTwiceEndsTheOldBlock) {
    Scene scene;
    scene.malloc(0x1000, 10).malloc(0x1000, 20);
    EXPECT_EQ(scene.counts().overwritten, 1U);
    EXPECT_EQ(scene.state().bytes, 20U);
    EXPECT_EQ(scene.state().objects, 1U);
}

TEST(Totals, CountsBlocksLiveAtTheEndAsNeverFreed) {
    Scene scene;
    scene.malloc(0x1000, 10).malloc(0x2000, 20).free(0x1000);
    const std::string document = scene.document();
    EXPECT_EQ(number(document, "totals", "never_freed"), 1);
    EXPECT_EQ(number(document, "totals", "never_freed_bytes"), 20);
    EXPECT_EQ(number(document, "totals", "freed_bytes"), 10);
}

TEST(Realloc, ThatMovesIsOneAllocationAndOneEnd) {
    Scene scene;
    scene.malloc(0x1000, 10).after(50).realloc(0x1000, 0x2000, 30, 7);
    EXPECT_EQ(scene.counts().allocations, 2U);
    EXPECT_EQ(scene.counts().bytes, 40U);
    EXPECT_EQ(scene.counts().growth, 30U);
    EXPECT_EQ(scene.counts().moved, 1U);
    EXPECT_EQ(scene.counts().ended, 1U);
    EXPECT_EQ(scene.counts().frees, 0U);
    EXPECT_EQ(scene.state().bytes, 30U);
    EXPECT_EQ(scene.state().operations, 2U);
}

TEST(Realloc, ThatGrowsWhereItIsIsOneAllocation) {
    Scene scene;
    scene.malloc(0x1000, 10).realloc(0x1000, 0x1000, 30);
    EXPECT_EQ(scene.counts().allocations, 2U);
    EXPECT_EQ(scene.counts().grownInPlace, 1U);
    EXPECT_EQ(scene.counts().growth, 30U);
    EXPECT_EQ(scene.state().bytes, 30U);
    EXPECT_EQ(scene.state().objects, 1U);
}

TEST(Realloc, ThatShrinksWhereItIsIsNone) {
    Scene scene;
    scene.malloc(0x1000, 100).realloc(0x1000, 0x1000, 30).realloc(0x1000, 0x1000, 30);
    EXPECT_EQ(scene.counts().allocations, 1U);
    EXPECT_EQ(scene.counts().shrunkInPlace, 2U);
    EXPECT_EQ(scene.counts().ended, 0U);
    EXPECT_EQ(scene.state().bytes, 30U);
    scene.free(0x1000);
    EXPECT_EQ(scene.state().bytes, 0U);
    EXPECT_EQ(scene.counts().endedBytes, 30U);
}

TEST(Realloc, ToNothingIsAnEndButNoFree) {
    Scene scene;
    scene.malloc(0x1000, 100).realloc(0x1000, 0, 0);
    EXPECT_EQ(scene.counts().freedByRealloc, 1U);
    EXPECT_EQ(scene.counts().frees, 0U);
    EXPECT_EQ(scene.counts().failed, 0U);
    EXPECT_EQ(scene.state().objects, 0U);
}

/// Another thread is given the old address while the realloc has not returned.
TEST(Realloc, DoesNotEndALaterBlockAtItsOldAddress) {
    Scene scene;
    scene.malloc(0x1000, 10).after(5).release(0x1000);
    scene.thread(1).after(5).malloc(0x1000, 77);
    EXPECT_EQ(scene.state().bytes, 87U) << "live memory changes when the call returns";
    scene.thread(0).after(5).realloc(0x1000, 0x2000, 20);
    EXPECT_EQ(scene.state().bytes, 97U);
    EXPECT_EQ(scene.counts().overwritten, 0U);
    EXPECT_EQ(scene.counts().unknownFrees, 0U);
    scene.free(0x1000).free(0x2000);
    EXPECT_EQ(scene.state().objects, 0U);
    EXPECT_EQ(scene.counts().ended, 3U);
}

TEST(Realloc, OfABlockThatIsNotKnownLeavesOthersAlone) {
    Scene scene;
    trace::Event move;
    move.routine = Routine::realloc;
    move.began = 0;
    move.old = 0x1000;
    move.address = 0x2000;
    move.size = 5;
    move.time = 20;
    scene.after(10).thread(1).malloc(0x1000, 7).apply(move);
    EXPECT_EQ(scene.counts().unknownFrees, 1U);
    EXPECT_EQ(scene.state().bytes, 12U);
}

TEST(RetentionTime, ItsLimitsAreOfTheRegionsThatTheyLimit) {
    Scene scene;
    for (std::uint64_t block = 1; block <= 5; ++block)
        scene.malloc(block << 12, 10);
    scene.after(100 * millisecond).free(1 << 12);
    scene.after(1).free(2 << 12);
    scene.after(900 * millisecond - 1).free(3 << 12);
    scene.after(1).free(4 << 12);
    const std::string document = scene.document();
    EXPECT_EQ(number(document, "retention", "short_count"), 1);
    EXPECT_EQ(number(document, "retention", "medium_count"), 2);
    EXPECT_EQ(number(document, "retention", "long_count"), 2) << "one freed late, one never";
    EXPECT_EQ(number(document, "retention", "long"), 0.4);
    EXPECT_EQ(number(document, "retention", "never_freed_share"), 0.2);
}

TEST(RetentionTime, RunsFromTheReturnToTheEntry) {
    Scene scene;
    scene.malloc(0x1000, 10).after(80 * millisecond);
    scene.realloc(0x1000, 0x2000, 20, 50 * millisecond); // the entry is what ends the old block
    const std::string document = scene.document();
    EXPECT_EQ(number(document, "retention", "short_count"), 1);
}

TEST(PeakMemory, IsReportedWithItsTimeAndObjects) {
    Scene scene;
    scene.after(10).malloc(0x1000, 10).after(10).malloc(0x2000, 200).after(10).free(0x2000);
    scene.after(10).malloc(0x3000, 30).after(10).malloc(0x4000, 40).after(10).malloc(0x5000, 5);
    const std::string document = scene.document();
    EXPECT_EQ(number(document, "peak_live_bytes"), 210);
    EXPECT_EQ(number(document, "peak_live_objects"), 4);
    EXPECT_EQ(number(document, "peak", "time_s"), 20e-9);
    EXPECT_EQ(number(document, "peak", "operation"), 2);
    EXPECT_EQ(number(document, "peak", "live_objects"), 2);
    EXPECT_TRUE(begins(document, "null", "peak", "usable_bytes"));
}

TEST(PeakMemory, KnowsTheRoundedSizesOfBlocks) {
    Scene scene;
    scene.call(Routine::malloc, 0x1000, 10, 24).call(Routine::malloc, 0x2000, 100, 104);
    scene.free(0x1000);
    EXPECT_EQ(scene.state().usable, 104U);
    EXPECT_EQ(number(scene.document(), "peak", "usable_bytes"), 128);
}

TEST(BetweenThreads, EndsByOthersAreCountedByPair) {
    Scene scene;
    scene.thread(1).malloc(0x1000, 8).malloc(0x2000, 8).malloc(0x3000, 8).malloc(0x4000, 8);
    scene.thread(2).free(0x1000).free(0x2000).realloc(0x3000, 0x5000, 9);
    scene.thread(1).free(0x4000);
    const std::string document = scene.document();
    EXPECT_EQ(number(document, "cross_thread_frees", "count"), 3);
    EXPECT_EQ(number(document, "cross_thread_frees", "share"), 0.75);
    EXPECT_EQ(number(document, "cross_thread_frees", "by_realloc"), 1);
    EXPECT_TRUE(begins(document, "[[1,2,3]]", "cross_thread_frees", "pairs"));
    EXPECT_EQ(number(document, "threads", "freed_elsewhere"), 3);
}

TEST(Processes, HaveAddressesOfTheirOwnAndEndOneByOne) {
    Plan plan = oneProcess(2);
    plan.processes.push_back({2, 0, false, true}); // a fork that makes two calls
    Scene scene(plan);
    scene.malloc(0x1000, 10);
    scene.after(5).process(1).thread(1).malloc(0x1000, 100).free(0x9000);
    EXPECT_EQ(scene.state().bytes, 110U);
    EXPECT_EQ(scene.counts().inheritedFrees, 1U);
    EXPECT_EQ(scene.counts().unknownFrees, 0U);
    scene.after(5).process(0).thread(0).malloc(0x2000, 1);
    EXPECT_EQ(scene.state().bytes, 11U) << "the child's blocks went with it";
    EXPECT_EQ(scene.counts().neverFreedBytes, 100U);
    EXPECT_EQ(number(scene.document(), "totals", "never_freed_bytes"), 111);
}

TEST(Temporary, IsABlockThatItsThreadEndsBeforeItAllocatesAgain) {
    Scene scene;
    scene.stack(7).malloc(0x1000, 10).free(0x1000);                   // temporary
    scene.malloc(0x2000, 10).malloc(0x3000, 10).free(0x2000);         // not: another one came
    scene.free(0x3000);                                               // temporary
    scene.malloc(0x4000, 10).free(0).thread(1).malloc(0x5000, 10);    // a free of null is no
    scene.thread(0).free(0x4000);                                     // hindrance, nor are others
    scene.thread(0).free(0x5000);                                     // not: by another thread
    scene.malloc(0x6000, 10).realloc(0x6000, 0x7000, 20);             // temporary: it has moved
    scene.malloc(0x8000, 10).realloc(0x8000, 0x8000, 5).free(0x8000); // in place it is no other
    EXPECT_EQ(scene.counts().temporary, 5U);
    EXPECT_EQ(scene.profiler().sites().all()[1].temporary, 5U);
    EXPECT_EQ(number(scene.document(), "totals", "temporary"), 5);
}

TEST(SitesOfCalls, CountRequestedAndLiveBytes) {
    Scene scene;
    trace::Event event;
    event.size = 50;
    for (std::uint64_t block = 1; block <= 3; ++block) {
        event.stack = block == 3 ? 9 : 7;
        event.address = block << 12;
        scene.apply(event);
    }
    scene.free(1 << 12);
    scene.document();
    const auto& sites = scene.profiler().sites().all();
    ASSERT_EQ(sites.size(), 3U) << "the first is for calls whose stack is not known";
    EXPECT_EQ(sites[1].stack, 7U);
    EXPECT_EQ(sites[1].bytes, 100U);
    EXPECT_EQ(sites[1].shortLived, 1U);
    EXPECT_EQ(sites[1].neverFreedBytes, 50U);
    EXPECT_EQ(sites[2].neverFreed, 1U);
}

} // namespace
} // namespace heapwright::profiler

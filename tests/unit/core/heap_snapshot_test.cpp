// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/heap_snapshot.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heapwright::testing {
namespace {

TEST(HeapSnapshot, CountsLiveAndFreeObjects) {
    constexpr HeapSnapshot::SizeClass figures = {
        .size = 32, .used = 10, .cached = 3, .held = 30, .heldGlobal = 5};
    static_assert(figures.live() == 7);
    static_assert(figures.free() == 25);
    SUCCEED();
}

TEST(HeapSnapshot, NeverCountsBelowNothing) {
    constexpr HeapSnapshot::SizeClass torn = {.used = 4, .cached = 5, .held = 3};
    static_assert(torn.live() == 0 && torn.free() == 0);
    constexpr HeapSnapshot::System system = {.mappedBytes = 1, .unmappedBytes = 2};
    static_assert(system.nowMapped() == 0);
    SUCCEED();
}

TEST(HeapSnapshot, HasThePlacesOfTheClassesThatWereNamed) {
    HeapSnapshot snapshot;
    snapshot.sizeClass(2, 48).used = 1;
    EXPECT_EQ(snapshot.classCount, 3U);
    EXPECT_EQ(snapshot.classes[2].size, 48U);
    snapshot.sizeClass(0, 16);
    EXPECT_EQ(snapshot.classCount, 3U);
}

TEST(HeapSnapshot, CountsClassesWithoutAPlaceWithTheLast) {
    HeapSnapshot snapshot;
    snapshot.sizeClass(HeapSnapshot::mostClasses - 1, 16).used += 1;
    snapshot.sizeClass(HeapSnapshot::mostClasses + 5, 32).used += 2;
    EXPECT_EQ(snapshot.classCount, HeapSnapshot::mostClasses);
    EXPECT_EQ(snapshot.classes.back().used, 3U);
}

TEST(HeapSnapshot, SumsUpMoreCachesThanItHasPlacesFor) {
    HeapSnapshot snapshot;
    for (std::uint32_t thread = 0; thread < HeapSnapshot::mostCaches + 10; ++thread) {
        snapshot.addCache({.thread = thread,
                           .objects = 2,
                           .bytes = 32,
                           .remoteObjects = 1,
                           .remoteBytes = 16,
                           .refills = 3,
                           .flushes = 4});
    }
    EXPECT_EQ(snapshot.cacheCount, HeapSnapshot::mostCaches + 10);
    EXPECT_EQ(snapshot.caches.back().thread, HeapSnapshot::mostCaches - 1);
    EXPECT_EQ(snapshot.allCaches.objects, 2 * (HeapSnapshot::mostCaches + 10));
    EXPECT_EQ(snapshot.allCaches.remoteBytes, 16 * (HeapSnapshot::mostCaches + 10));
    EXPECT_EQ(snapshot.allCaches.flushes, 4 * (HeapSnapshot::mostCaches + 10));
}

TEST(HeapSnapshot, LetsASharedHeapInOnce) {
    HeapSnapshot snapshot;
    int one = 0;
    int other = 0;
    EXPECT_TRUE(snapshot.firstVisit(&one));
    EXPECT_TRUE(snapshot.firstVisit(&other));
    EXPECT_FALSE(snapshot.firstVisit(&one));
}

TEST(ObjectVisitor, RunsItsFunction) {
    std::vector<LiveObject> seen;
    const auto collect = [&seen](const LiveObject& object) { seen.push_back(object); };
    const ObjectVisitor visit(collect);
    int place = 0;
    visit({&place, 16, 3, true});
    visit({&place, 4096});
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(seen[0].address, &place);
    EXPECT_EQ(seen[0].sizeClass, 3U);
    EXPECT_TRUE(seen[0].cached);
    EXPECT_EQ(seen[1].sizeClass, LiveObject::noClass);
    EXPECT_FALSE(seen[1].cached);
}

TEST(HeapSnapshot, SubtractsWaitingObjectsFromLiveOnes) {
    HeapSnapshot snapshot;
    snapshot.sizeClass(3, 64).used = 5;
    snapshot.large = {.objects = 2, .bytes = 3000};
    snapshot.addWaiting(3, 60);
    snapshot.addWaiting(LiveObject::noClass, 1000);
    EXPECT_EQ(snapshot.classes[3].live(), 4U);
    EXPECT_EQ(snapshot.large.objects, 1U);
    EXPECT_EQ(snapshot.large.bytes, 2000U);
    const HeapSnapshot::Totals sum = snapshot.totals();
    EXPECT_EQ(sum.liveObjects, 5U);
    EXPECT_EQ(sum.cachedObjects, 2U);
    EXPECT_EQ(sum.cachedBytes, 64U + 1000U);
    snapshot.addWaiting(LiveObject::noClass, 9000); // more than there is
    EXPECT_EQ(snapshot.large.bytes, 2000U);
}

} // namespace
} // namespace heapwright::testing

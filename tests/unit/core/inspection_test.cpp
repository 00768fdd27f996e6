// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/inspection.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heapwright::testing {
namespace {

TEST(Inspection, CountsWhatIsLiveAndFree) {
    constexpr Inspection::SizeClass figures = {
        .size = 32, .used = 10, .cached = 3, .held = 30, .heldGlobal = 5};
    static_assert(figures.live() == 7);
    static_assert(figures.free() == 25);
    SUCCEED();
}

TEST(Inspection, NeverCountsBelowNothing) {
    constexpr Inspection::SizeClass torn = {.used = 4, .cached = 5, .held = 3};
    static_assert(torn.live() == 0 && torn.free() == 0);
    constexpr Inspection::System system = {.mappedBytes = 1, .unmappedBytes = 2};
    static_assert(system.nowMapped() == 0);
    SUCCEED();
}

TEST(Inspection, HasThePlacesOfTheClassesThatWereNamed) {
    Inspection inspection;
    inspection.sizeClass(2, 48).used = 1;
    EXPECT_EQ(inspection.classCount, 3U);
    EXPECT_EQ(inspection.classes[2].size, 48U);
    inspection.sizeClass(0, 16);
    EXPECT_EQ(inspection.classCount, 3U);
}

TEST(Inspection, CountsClassesWithoutAPlaceWithTheLast) {
    Inspection inspection;
    inspection.sizeClass(Inspection::mostClasses - 1, 16).used += 1;
    inspection.sizeClass(Inspection::mostClasses + 5, 32).used += 2;
    EXPECT_EQ(inspection.classCount, Inspection::mostClasses);
    EXPECT_EQ(inspection.classes.back().used, 3U);
}

TEST(Inspection, SumsUpMoreCachesThanItHasPlacesFor) {
    Inspection inspection;
    for (std::uint32_t thread = 0; thread < Inspection::mostCaches + 10; ++thread) {
        inspection.addCache({.thread = thread,
                             .objects = 2,
                             .bytes = 32,
                             .remoteObjects = 1,
                             .remoteBytes = 16,
                             .refills = 3,
                             .flushes = 4});
    }
    EXPECT_EQ(inspection.cacheCount, Inspection::mostCaches + 10);
    EXPECT_EQ(inspection.caches.back().thread, Inspection::mostCaches - 1);
    EXPECT_EQ(inspection.allCaches.objects, 2 * (Inspection::mostCaches + 10));
    EXPECT_EQ(inspection.allCaches.remoteBytes, 16 * (Inspection::mostCaches + 10));
    EXPECT_EQ(inspection.allCaches.flushes, 4 * (Inspection::mostCaches + 10));
}

TEST(Inspection, LetsASharedHeapInOnce) {
    Inspection inspection;
    int one = 0;
    int other = 0;
    EXPECT_TRUE(inspection.enters(&one));
    EXPECT_TRUE(inspection.enters(&other));
    EXPECT_FALSE(inspection.enters(&one));
}

TEST(ObjectVisitor, RunsWhatItWasMadeOf) {
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

TEST(Inspection, TakesWhatWaitsOffWhatIsLive) {
    Inspection inspection;
    inspection.sizeClass(3, 64).used = 5;
    inspection.large = {.objects = 2, .bytes = 3000};
    inspection.addWaiting(3, 60);
    inspection.addWaiting(LiveObject::noClass, 1000);
    EXPECT_EQ(inspection.classes[3].live(), 4U);
    EXPECT_EQ(inspection.large.objects, 1U);
    EXPECT_EQ(inspection.large.bytes, 2000U);
    const Inspection::Totals sum = inspection.totals();
    EXPECT_EQ(sum.liveObjects, 5U);
    EXPECT_EQ(sum.cachedObjects, 2U);
    EXPECT_EQ(sum.cachedBytes, 64U + 1000U);
    inspection.addWaiting(LiveObject::noClass, 9000); // more than there is
    EXPECT_EQ(inspection.large.bytes, 2000U);
}

} // namespace
} // namespace heapwright::testing

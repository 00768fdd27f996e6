// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/observe/guarded_pages.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <vector>

namespace heapwright {
namespace {

TEST(GuardedPages, PlacesObjectsOfZeroBytesUntilAllPagesAreUsed) {
    GuardedPages<1> pages;
    std::vector<void*> objects;
    for (std::size_t each = 0; each < GuardedPages<1>::slots; ++each) {
        auto* const object = static_cast<unsigned char*>(pages.place(100));
        ASSERT_NE(object, nullptr);
        EXPECT_TRUE(pages.owns(object));
        EXPECT_EQ(pages.getSize(object, "malloc_usable_size"), 100U);
        EXPECT_EQ(object[0] + object[99], 0);
        std::memset(object, 1, 100);
        objects.push_back(object);
    }
    EXPECT_EQ(pages.place(1), nullptr);
    pages.free(objects[1]);
    EXPECT_NE(pages.place(1), nullptr);
    int local = 0;
    EXPECT_FALSE(pages.owns(&local));
}

TEST(GuardedPages, VisitsLiveObjects) {
    GuardedPages<1> pages;
    void* const one = pages.place(10);
    void* const other = pages.place(20);
    pages.free(one);
    std::vector<const void*> seen;
    pages.forEachLive([&seen](const void* object, std::size_t size) {
        seen.push_back(object);
        EXPECT_EQ(size, 20U);
    });
    EXPECT_EQ(seen, std::vector<const void*>{other});
}

TEST(GuardedPagesDeathTest, ReportsADoubleFreeAndAnOverflow) {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    GuardedPages<1> pages;
    auto* const object = static_cast<unsigned char*>(pages.place(33));
    auto* const other = static_cast<unsigned char*>(pages.place(33));
    pages.free(object);
    EXPECT_DEATH(pages.free(object), "sampled object of 33 bytes");
    EXPECT_DEATH(
        {
            other[200] = 1;
            pages.free(other);
        },
        "overflow of a sampled object");
}

} // namespace
} // namespace heapwright

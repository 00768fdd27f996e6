// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The map of live memory, and the bump pointer.
#include <support/bump.hpp>
#include <support/live_bitmap.hpp>

#include <heapwright/core/contents.hpp>
#include <heapwright/core/random.hpp>

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace heapwright::workloads {
namespace {

TEST(ShadowTest, ReportsOverlapsButNotNeighbours) {
    LiveBitmap shadow;
    const std::uintptr_t at = std::uintptr_t{5} << 30U; // where one piece of the map ends
    EXPECT_TRUE(shadow.mark(at - 1024, 1024));
    EXPECT_TRUE(shadow.mark(at, 4096));
    EXPECT_TRUE(shadow.mark(at - 1032, 8));
    EXPECT_FALSE(shadow.mark(at - 8, 16));
    EXPECT_TRUE(shadow.clear(at, 4096));
    EXPECT_FALSE(shadow.clear(at, 4096));
    EXPECT_TRUE(shadow.mark(at + 4088, 1));
    EXPECT_FALSE(shadow.mark(at + 4088, 0));
}

/// Objects of all sizes that come and go, looked at before each end.
void history(const Calls& bump) {
    Random random(7);
    std::map<void*, std::size_t> live;
    LiveBitmap shadow;
    for (std::uint64_t step = 1; step < 5'000; ++step) {
        if (live.size() > 100 || (!live.empty() && random.below(3) == 0)) {
            auto victim = live.begin();
            std::advance(victim, static_cast<long>(random.below(live.size())));
            auto [object, size] = *victim;
            ASSERT_EQ(contents::firstUnlike(object, size, size), size);
            ASSERT_TRUE(shadow.clear(reinterpret_cast<std::uintptr_t>(object), size));
            live.erase(victim);
            bump.free(object);
            continue;
        }
        const std::size_t size = random.below(50) == 0 ? random.below(600'000) : random.below(500);
        const std::size_t alignment = std::size_t{16} << random.below(9);
        void* const object =
            random.below(2) == 0 ? bump.malloc(size) : bump.memalign(alignment, size);
        ASSERT_NE(object, nullptr);
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(object) % 16, 0U);
        ASSERT_TRUE(shadow.mark(reinterpret_cast<std::uintptr_t>(object), size));
        contents::fill(object, size, size);
        live[object] = size;
    }
    for (const auto& [object, size] : live) {
        ASSERT_TRUE(shadow.clear(reinterpret_cast<std::uintptr_t>(object), size));
        bump.free(object);
    }
}

TEST(BumpTest, ReturnsObjectsThatDoNotOverlap) {
    history(bumpCalls(true));
    history(bumpCalls(false));
}

TEST(BumpTest, ReallocKeepsTheContents) {
    const Calls bump = bumpCalls(true);
    void* object = bump.malloc(10);
    contents::fill(object, 10, 1);
    for (std::size_t size = 20; size < 2'000'000; size *= 3) {
        object = bump.realloc(object, size);
        ASSERT_NE(object, nullptr);
        ASSERT_EQ(contents::firstUnlike(object, 10, 1), 10U);
    }
    bump.free(object);
}

TEST(BumpTest, ReturnsNullForImpossibleSizes) {
    const Calls bump = bumpCalls(true);
    EXPECT_EQ(bump.malloc(~std::size_t{0}), nullptr);
    EXPECT_EQ(bump.malloc(~std::size_t{0} - 100), nullptr);
    EXPECT_EQ(bump.calloc(std::size_t{1} << 40U, std::size_t{1} << 40U), nullptr);
    EXPECT_EQ(bump.memalign(64, ~std::size_t{0} - 32), nullptr);
    bump.free(nullptr);
}

} // namespace
} // namespace heapwright::workloads

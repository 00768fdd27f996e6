// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/kernel/kernel_cache.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace heapwright::testing {
namespace {

using Sizes = GeneralSizes<4 * MiB>;

TEST(GeneralSizes, ServeEachSizeByTheSmallestCacheThatHoldsIt) {
    for (std::size_t size = 1; size <= 20'000; ++size) {
        const std::size_t index = Sizes::indexFor(size);
        ASSERT_GE(Sizes::sizes[index], size);
        ASSERT_TRUE(index == 0 || Sizes::sizes[index - 1] < size) << size;
    }
    EXPECT_EQ(Sizes::sizes[Sizes::indexFor(4 * MiB)], 4 * MiB);
    EXPECT_EQ(Sizes::indexFor(0), 0U);
}

TEST(GeneralSizes, AreNamedAsInTheKernel) {
    EXPECT_STREQ(Sizes::names[Sizes::indexFor(100)], "kmalloc-128");
    EXPECT_STREQ(Sizes::names[Sizes::indexFor(130)], "kmalloc-192");
    EXPECT_STREQ(Sizes::names[Sizes::indexFor(1024)], "kmalloc-1k");
    EXPECT_STREQ(Sizes::names[Sizes::indexFor(4 * MiB)], "kmalloc-4M");
}

TEST(GeneralSizes, AlignByAPowerOfTwo) {
    EXPECT_EQ(Sizes::alignedSize(16, 100), 100U);
    EXPECT_EQ(Sizes::alignedSize(64, 10), 64U);
    EXPECT_EQ(Sizes::alignedSize(64, 65), 128U);
    EXPECT_EQ(Sizes::alignedSize(64, SIZE_MAX / 2 + 1), SIZE_MAX / 2 + 1);
    EXPECT_EQ(Sizes::alignedSize(64, SIZE_MAX - 15), SIZE_MAX - 15);
}

TEST(CacheTraits, StateThePagesTakenAndTheObjectsKept) {
    CacheTraits traits{"dentry", 192};
    EXPECT_EQ(traits.mobility(), Mobility::unmovable);
    EXPECT_FALSE(traits.keepsState());
    traits.reclaimable = true;
    traits.destructor = [](void*) {};
    EXPECT_EQ(traits.mobility(), Mobility::reclaimable);
    EXPECT_TRUE(traits.keepsState());
}

TEST(SlabList, KeepsItsOrderAfterAnyRemoval) {
    std::array<Page, 4> pages;
    SlabList list;
    list.addBack(pages[1]);
    list.addBack(pages[2]);
    list.addFront(pages[0]);
    list.addBack(pages[3]);
    list.remove(pages[2]);
    list.remove(pages[0]);
    EXPECT_EQ(list.count, 2U);
    EXPECT_EQ(list.first, &pages[1]);
    EXPECT_EQ(list.first->next, &pages[3]);
    EXPECT_EQ(list.last, &pages[3]);
    list.remove(pages[3]);
    list.remove(pages[1]);
    EXPECT_EQ(list.first, nullptr);
    EXPECT_EQ(list.last, nullptr);
}

TEST(LeavingSlabs, AreHandedOutOnce) {
    std::array<Page, 2> pages;
    LeavingSlabs leaving;
    leaving.add(pages[0]);
    leaving.add(pages[1]);
    EXPECT_EQ(leaving.next(), &pages[1]);
    EXPECT_EQ(leaving.next(), &pages[0]);
    EXPECT_EQ(leaving.next(), nullptr);
}

TEST(RunOnObjects, RunsOnEachAndOnNoneWithoutAFunction) {
    std::array<std::uint64_t, 6> words{};
    const auto mark = [](void* object) { *static_cast<std::uint64_t*>(object) = 1; };
    runOnObjects(mark, words.data(), 3, 2 * sizeof(std::uint64_t));
    EXPECT_EQ(words, (std::array<std::uint64_t, 6>{1, 0, 1, 0, 1, 0}));
    runOnObjects(nullptr, words.data(), 3, 2 * sizeof(std::uint64_t));
    EXPECT_EQ(words[0], 1U);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/allocators/granary.hpp>
#include <heapwright/layers/combine/call_site_heap.hpp>
#include <heapwright/layers/object/ansi_wrapper.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/region/short_lived_heap.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

namespace heapwright::testing {
namespace {

int site = 0;
int otherSite = 0;

/// Knows the sizes of up to 100 bytes at `site`, once it is resolved.
struct OneSite {
    bool resolved = false;

    bool has(const void* caller, std::size_t size) const noexcept {
        return resolved && caller == &site && size <= 100;
    }
    void resolve() noexcept { resolved = true; }
};

/// Knows all sizes at `otherSite`.
struct OtherSite {
    bool has(const void* caller, std::size_t) const noexcept { return caller == &otherSite; }
    void resolve() noexcept {}
};

using Short = ShortLivedHeap<2, 1 * KiB, MmapHeap>;
using Counted = CallSiteHeap<OneSite, Short, SizeHeap<CountingHeap>>;

static_assert(SitePredictingHeap<Counted> && SizedHeap<Counted> && ResizableHeap<Counted>);
static_assert(!OwningHeap<Counted>, "the superheap does not know its objects");
static_assert(!FastPathHeap<Counted>);

TEST(CallSiteHeap, AsksTheFirstHeapForItsCallSitesAlone) {
    Ledger::begin();
    Counted heap;
    heap.resolveSites();
    void* const object = heap.tryMallocFrom(50, &site);
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(heap.tryMallocFrom(101, &site), nullptr);
    EXPECT_EQ(heap.tryMallocFrom(50, &otherSite), nullptr);
    EXPECT_EQ(Ledger::the().requests, 0U);
    void* const plain = heap.malloc(50);
    EXPECT_EQ(Ledger::the().requests, 1U);
    EXPECT_EQ(heap.getSize(object), 56U);
    EXPECT_GE(heap.getSize(plain), 50U);
    heap.free(object);
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    heap.free(plain);
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(heap.tryMallocFrom(50, &site), object) << "so the first heap has got it back";
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(CallSiteHeap, KnowsNoSiteBeforeItIsResolved) {
    Counted heap;
    EXPECT_EQ(heap.tryMallocFrom(50, &site), nullptr);
}

TEST(CallSiteHeap, IsNullIfTheFirstHeapDeclines) {
    Counted heap;
    heap.resolveSites();
    std::size_t served = 0;
    while (heap.tryMallocFrom(100, &site) != nullptr) {
        ++served;
    }
    EXPECT_GT(served, 10U);
    EXPECT_LT(served, 20U);
}

TEST(CallSiteHeap, ReturnsNullIfTheHeapBelowDoes) {
    Ledger::begin(1);
    Counted heap;
    EXPECT_EQ(heap.malloc(10), nullptr);
}

TEST(CallSiteHeap, AsksTheCallSitesOfAHeapBelow) {
    CallSiteHeap<OtherSite, Short, Counted> heap;
    EXPECT_EQ(heap.tryMallocFrom(20, &site), nullptr);
    heap.resolveSites();
    void* const below = heap.tryMallocFrom(20, &site);
    void* const above = heap.tryMallocFrom(20, &otherSite);
    ASSERT_NE(below, nullptr);
    ASSERT_NE(above, nullptr);
    heap.free(below);
    heap.free(above);
    EXPECT_EQ(heap.tryMallocFrom(20, &site), below);
    EXPECT_EQ(heap.tryMallocFrom(20, &otherSite), above);
}

TEST(CallSiteHeap, ReallocationMovesAnObjectOutOfTheFirstHeap) {
    using Whole = ANSIWrapper<CallSiteHeap<OneSite, Short, MmapHeap>>;
    Whole heap;
    heap.resolveSites();
    void* const object = heap.tryMallocFrom(20, &site);
    ASSERT_NE(object, nullptr);
    std::memcpy(object, "as it was", 10);
    EXPECT_EQ(heap.realloc(object, 10), object);
    void* const moved = heap.realloc(object, 5000);
    ASSERT_NE(moved, nullptr);
    EXPECT_STREQ(static_cast<char*>(moved), "as it was");
    EXPECT_EQ(heap.tryMallocFrom(20, &site), object) << "so it was freed";
    void* const again = heap.realloc(moved, 50'000);
    ASSERT_NE(again, nullptr);
    EXPECT_STREQ(static_cast<char*>(again), "as it was");
    heap.free(again);
    heap.free(nullptr);
    EXPECT_EQ(heap.tryMallocFrom(0, nullptr), nullptr);
}

TEST(CallSiteHeap, OtherVerbsUseTheSuperheap) {
    CallSiteHeap<OneSite, Short, MmapHeap> heap;
    heap.resolveSites();
    void* const aligned = heap.memalign(4096, 100);
    ASSERT_NE(aligned, nullptr);
    EXPECT_EQ(addressOf(aligned) % 4096, 0U);
    auto* const zero = static_cast<unsigned char*>(heap.zalloc(5000));
    ASSERT_NE(zero, nullptr);
    EXPECT_EQ(zero[0] | zero[4999], 0);
    MemoryUsage usage;
    heap.measure(usage);
    const std::size_t before = usage.mapped;
    void* const object = heap.tryMallocFrom(20, &site);
    EXPECT_EQ(heap.relocate(object, 5000), nullptr);
    usage = {};
    heap.measure(usage);
    EXPECT_GE(usage.mapped, before + 2 * KiB) << "the memory of the first heap, too";
    heap.free(object);
    heap.free(zero);
    heap.free(aligned);
}

TEST(CallSiteHeap, KeepsTheFastPathOfTheSuperheap) {
    using Top = ANSIWrapper<CallSiteHeap<OneSite, Short, allocators::granary::HandlerSafe>>;
    static_assert(SplitPathHeap<Top>);
    static_assert(
        HandlerNotifiedHeap<CallSiteHeap<OneSite, Short, allocators::granary::HandlerSafe>>);
    static Top heap;
    heap.resolveSites();
    void* const object = heap.tryMallocFrom(20, &site);
    void* const plain = heap.malloc(20);
    ASSERT_NE(object, nullptr);
    ASSERT_NE(plain, nullptr);
    heap.free(plain);
    EXPECT_TRUE(heap.tryFreeFast(object));
    EXPECT_EQ(heap.tryMallocFrom(20, &site), object);
    heap.free(object);
    heap.free(nullptr);
}

} // namespace
} // namespace heapwright::testing

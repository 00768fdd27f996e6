// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/object/ansi_wrapper.hpp>
#include <heapwright/layers/source/guard_page_heap.hpp>
#include <heapwright/layers/thread/signal_safe_heap.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

namespace heapwright::testing {
namespace {

using Guarded = GuardPageHeap<1 * MiB>;

unsigned char* bytesOf(void* object) {
    return static_cast<unsigned char*>(object);
}

/// Hides from the compiler what it would warn of.
volatile unsigned char* at(void* object, std::ptrdiff_t offset) {
    static volatile std::ptrdiff_t hidden = 0;
    hidden = offset;
    return bytesOf(object) + hidden;
}

TEST(GuardPageHeap, EndsObjectsAtThePageOrUpTo15BytesBefore) {
    Guarded heap;
    for (std::size_t size = 1; size < 10'000; size += 37) {
        void* const object = heap.malloc(size);
        ASSERT_NE(object, nullptr);
        EXPECT_EQ(addressOf(object) % 16, 0U);
        EXPECT_EQ((addressOf(object) + roundUp(size, 16)) % platform::pageSize(), 0U);
        EXPECT_EQ(heap.getSize(object), size);
        std::memset(object, 1, size);
        heap.free(object);
    }
}

TEST(GuardPageHeap, AlignedObjectsAreGuardedToo) {
    Guarded heap;
    for (std::size_t align = 1; align <= 1 * MiB; align *= 2) {
        for (const std::size_t size : {1U, 100U, 4096U, 5000U}) {
            void* const object = heap.memalign(align, size);
            ASSERT_NE(object, nullptr);
            EXPECT_EQ(addressOf(object) % align, 0U);
            std::memset(object, 1, size);
            heap.free(object);
        }
    }
    void* const pages = heap.memalign(64 * KiB, 8192);
    EXPECT_DEATH(*at(pages, 8192) = 1, "");
    EXPECT_DEATH(*at(pages, -1) = 1, "");
    heap.free(pages);
}

TEST(GuardPageHeapDeath, OverflowFaultsOrIsFoundOnFree) {
    Guarded heap;
    void* const exact = heap.malloc(32);
    EXPECT_DEATH(*at(exact, 32) = 1, "");
    EXPECT_DEATH(*at(exact, 32 + 4000) = 1, "");
    void* const odd = heap.malloc(21);
    EXPECT_DEATH(*at(odd, 32) = 1, "");
    for (std::ptrdiff_t behind = 21; behind < 32; ++behind) {
        EXPECT_DEATH(
            {
                *at(odd, behind) = 0;
                heap.free(odd);
            },
            "heapwright: free\\(\\): overflow");
    }
    heap.free(exact);
    heap.free(odd);
}

TEST(GuardPageHeapDeath, UnderflowFaultsOrIsFoundOnFree) {
    Guarded heap;
    void* const small = heap.malloc(32);
    for (const std::ptrdiff_t before : {-1, -16, -100}) {
        EXPECT_DEATH(
            {
                *at(small, before) = 0;
                heap.free(small);
            },
            "heapwright: free\\(\\): underflow");
    }
    void* const page = heap.malloc(platform::pageSize());
    EXPECT_DEATH(*at(page, -1) = 1, "");
    heap.free(small);
    heap.free(page);
}

TEST(GuardPageHeapDeath, FaultsOnUseAndOnASecondFreeOfAFreedObject) {
    Guarded heap;
    void* const object = heap.malloc(50);
    heap.free(object);
    EXPECT_DEATH(*at(object, 0) = 1, "");
    EXPECT_DEATH(static_cast<void>(*at(object, 49) == 0), "");
    EXPECT_DEATH(heap.free(object), "heapwright: free\\(\\): double free");
    EXPECT_DEATH(static_cast<void>(heap.getSize(object)),
                 "heapwright: malloc_usable_size\\(\\): use of a freed object");
    EXPECT_DEATH(static_cast<void>(heap.resize(object, 60)),
                 "heapwright: realloc\\(\\): use of a freed object");
}

TEST(GuardPageHeapDeath, OnlyItsObjectsAreFreed) {
    Guarded heap;
    int local = 0;
    void* const object = heap.malloc(50);
    EXPECT_DEATH(heap.free(forward(object, 16)), "heapwright: free\\(\\): invalid pointer");
    EXPECT_DEATH(heap.free(forward(object, 1)), "heapwright: free\\(\\): invalid pointer");
    EXPECT_DEATH(heap.free(&local), "heapwright: free\\(\\): invalid pointer");
    EXPECT_DEATH(static_cast<void>(heap.getSize(&local)),
                 "heapwright: malloc_usable_size\\(\\): invalid pointer");
    heap.free(object);
}

TEST(GuardPageHeap, AddressesAreUsedAgainOnlyAfterTheQuarantine) {
    constexpr std::size_t ranges = 100;
    GuardPageHeap<ranges * 3 * platform::smallestPage> heap;
    std::vector<void*> freed;
    for (std::size_t i = 0; i < 10 * ranges; ++i) {
        void* const object = heap.malloc(10);
        for (std::size_t back = 1; back < ranges / 4 && back <= freed.size(); ++back) {
            ASSERT_NE(object, freed[freed.size() - back]);
        }
        heap.free(object);
        freed.push_back(object);
    }
}

TEST(GuardPageHeap, EmptyQuarantineUnmapsAtOnce) {
    GuardPageHeap<0> heap;
    void* const object = heap.malloc(10);
    heap.free(object);
    EXPECT_FALSE(heap.owns(object));
    EXPECT_DEATH(heap.free(object), "heapwright: free\\(\\): invalid pointer");
}

TEST(GuardPageHeap, KnowsItsOwn) {
    Guarded heap;
    void* const object = heap.malloc(50);
    EXPECT_TRUE(heap.owns(object));
    EXPECT_TRUE(heap.owns(forward(object, 49)));
    EXPECT_FALSE(heap.owns(forward(object, 50)));
    EXPECT_FALSE(heap.owns(&heap));
    EXPECT_FALSE(heap.owns(nullptr));
    heap.free(object);
    EXPECT_FALSE(heap.owns(object));
}

TEST(GuardPageHeap, ClearTakesEverythingBack) {
    Guarded heap;
    void* const live = heap.malloc(50);
    heap.free(heap.malloc(60));
    MemoryUsage before;
    heap.measure(before);
    EXPECT_EQ(before.mapped, platform::pageSize());
    heap.clear();
    MemoryUsage after;
    heap.measure(after);
    EXPECT_EQ(after.mapped, 0U);
    EXPECT_FALSE(heap.owns(live));
    EXPECT_DEATH(*at(live, 0) = 1, "");
    EXPECT_NE(heap.malloc(50), nullptr);
}

TEST(GuardPageHeap, RefusesUnmappableSizesAndKeepsErrno) {
    Guarded heap;
    errno = EINTR;
    EXPECT_EQ(heap.malloc(SIZE_MAX), nullptr);
    EXPECT_EQ(heap.malloc(SIZE_MAX - 3 * platform::pageSize()), nullptr);
    EXPECT_EQ(heap.malloc(std::size_t{1} << 60U), nullptr);
    EXPECT_EQ(heap.memalign(std::size_t{1} << 62U, 100), nullptr);
    EXPECT_EQ(heap.memalign(4096, SIZE_MAX - 4096), nullptr);
    EXPECT_NE(heap.malloc(1), nullptr);
    EXPECT_EQ(errno, EINTR);
}

TEST(GuardPageHeap, IsNullWhenTheSystemAllowsNoMoreMappings) {
    // In a child, since no other thread in the process could map anything meanwhile.
    EXPECT_EXIT(
        {
            Guarded heap;
            std::vector<void*> live;
            live.reserve(40'000);
            while (live.size() < live.capacity()) {
                void* const object = heap.malloc(16);
                if (object == nullptr) {
                    break;
                }
                live.push_back(object);
            }
            const bool ended = live.size() < live.capacity();
            for (void* const object : live) {
                heap.free(object);
            }
            ::_exit(!ended || heap.malloc(16) != nullptr ? 0 : 1);
        },
        ::testing::ExitedWithCode(0), "");
}

TEST(GuardPageHeap, TheRulesOfCStandAboveIt) {
    ANSIWrapper<Guarded> heap;
    auto* object = bytesOf(heap.realloc(nullptr, 10));
    std::memset(object, 7, 10);
    object = bytesOf(heap.realloc(object, 3000));
    EXPECT_EQ(object[9], 7);
    object = bytesOf(heap.realloc(object, 5));
    EXPECT_EQ(heap.getSize(object), 5U);
    EXPECT_EQ(object[4], 7);
    heap.free(object);
    EXPECT_EQ(bytesOf(heap.calloc(10, 10))[99], 0);
    heap.free(heap.malloc(0));
}

/// A handler that interrupted the heap frees small objects: they become links until the heap is
/// free, and that is no overflow.
TEST(GuardPageHeap, ALinkInASmallObjectIsNoOverflow) {
    SignalSafeHeap<Guarded> heap;
    void* const first = heap.malloc(1);
    void* const second = heap.malloc(3);
    heap.beforeFork(); // from here on this thread counts as inside
    heap.free(first);
    heap.free(second);
    heap.afterForkInParent();
    void* const next = heap.malloc(10); // works off what waits
    EXPECT_NE(next, nullptr);
    EXPECT_DEATH(heap.free(first), "heapwright: free\\(\\): double free");
    heap.free(next);
}

} // namespace
} // namespace heapwright::testing

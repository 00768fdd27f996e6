// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/region/short_lived_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

constexpr std::size_t arenas = 4;
using Small = ShortLivedHeap<arenas, 1 * KiB, CountingHeap>;
/// Objects of this size that one arena of `Small` holds.
constexpr std::size_t size = 120;
constexpr std::size_t perArena = 7;

static_assert(SizedHeap<Small> && OwningHeap<Small> && ConcurrentHeap<Small>);
static_assert(LockFreeOwningHeap<Small> && TaggedHeap<Small>);

TEST(ShortLivedHeap, TakesItsMemoryOnceAndReturnsIt) {
    Ledger::begin();
    {
        Small heap;
        EXPECT_EQ(Ledger::the().requests, 0U);
        for (int i = 0; i < 100; ++i) {
            void* const object = heap.malloc(size);
            ASSERT_NE(object, nullptr);
            EXPECT_EQ(addressOf(object) % 16, 0U);
            EXPECT_EQ(heap.getSize(object), size);
            std::memset(object, i, size);
            heap.free(object);
        }
        EXPECT_EQ(Ledger::the().requests, 1U);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(ShortLivedHeap, ServesAQueueOfShortLivedObjectsForEver) {
    Small heap;
    std::deque<void*> live;
    for (std::size_t i = 0; i < 10'000; ++i) {
        void* const object = heap.malloc(size);
        ASSERT_NE(object, nullptr) << i;
        std::memset(object, static_cast<int>(i), size);
        live.push_back(object);
        if (live.size() > 2 * perArena) {
            EXPECT_EQ(*static_cast<unsigned char*>(live.front()), (i - 2 * perArena) % 256);
            heap.free(live.front());
            live.pop_front();
        }
    }
    for (void* const object : live) {
        heap.free(object);
    }
}

TEST(ShortLivedHeap, StaysWhereItIsForAStackOfObjects) {
    Small heap;
    void* const bottom = heap.malloc(size);
    void* const first = heap.malloc(size);
    heap.free(first);
    for (int i = 0; i < 1000; ++i) {
        void* const object = heap.malloc(size);
        void* const inner = heap.malloc(24);
        ASSERT_EQ(object, first);
        heap.free(inner);
        heap.free(object);
    }
    heap.free(bottom);
    EXPECT_EQ(heap.malloc(size), bottom) << "an empty arena starts again";
}

TEST(ShortLivedHeap, UsesNoMoreArenasThanItNeeds) {
    ShortLivedHeap<64, 1 * KiB, CountingHeap> heap;
    Address low = ~Address{0};
    Address high = 0;
    void* before = nullptr;
    for (int i = 0; i < 1000; ++i) {
        void* const object = heap.malloc(size);
        low = std::min(low, addressOf(object));
        high = std::max(high, addressOf(object));
        if (before != nullptr) {
            heap.free(before);
        }
        before = object;
    }
    EXPECT_GT(high - low, 1 * KiB);
    EXPECT_LT(high - low, 2 * KiB) << "two arenas in turn";
}

TEST(ShortLivedHeap, PassesOverAnArenaWithALiveObject) {
    Small heap;
    void* const pin = heap.malloc(size);
    for (int i = 0; i < 1000; ++i) {
        std::array<void*, 2> pair = {heap.malloc(size), heap.malloc(size)};
        ASSERT_NE(pair[1], nullptr) << i;
        std::memset(pair[0], 1, size);
        std::memset(pair[1], 2, size);
        EXPECT_NE(pair[0], pin);
        EXPECT_NE(pair[1], pin);
        heap.free(pair[0]); // in the order of a queue
        heap.free(pair[1]);
    }
}

TEST(ShortLivedHeap, DeclinesIfEachArenaHasALiveObject) {
    Small heap;
    std::vector<void*> all;
    while (void* const object = heap.malloc(size)) {
        all.push_back(object);
    }
    EXPECT_EQ(all.size(), arenas * perArena);
    EXPECT_EQ(heap.malloc(size), nullptr) << "no search again so soon";
    for (std::size_t i = 0; i < perArena; ++i) {
        heap.free(all[i]);
    }
    void* again = nullptr;
    for (int i = 0; i < 100 && again == nullptr; ++i) {
        again = heap.malloc(size);
    }
    EXPECT_EQ(again, all[0]) << "the first arena is empty";
}

TEST(ShortLivedHeap, DeclinesLargeRequests) {
    Small heap;
    EXPECT_EQ(Small::mostBytes, 128U);
    EXPECT_NE(heap.malloc(128), nullptr);
    EXPECT_EQ(heap.malloc(129), nullptr);
    EXPECT_EQ(heap.malloc(SIZE_MAX), nullptr);
    EXPECT_NE(heap.malloc(0), nullptr);
}

TEST(ShortLivedHeap, KnowsItsOwnObjects) {
    Small heap;
    int outside = 0;
    EXPECT_FALSE(heap.owns(nullptr));
    EXPECT_FALSE(heap.owns(&outside));
    void* const object = heap.malloc(20);
    EXPECT_TRUE(heap.owns(object));
    EXPECT_TRUE(heap.owns(forward(object, 19)));
    EXPECT_FALSE(heap.owns(nullptr));
    EXPECT_FALSE(heap.owns(&outside));
    EXPECT_TRUE(heap.resize(object, heap.getSize(object)));
    EXPECT_FALSE(heap.resize(object, heap.getSize(object) + 1));
}

TEST(ShortLivedHeap, IsNullIfTheHeapBelowIs) {
    Ledger::begin(1);
    Small heap;
    EXPECT_EQ(heap.malloc(size), nullptr);
    EXPECT_FALSE(heap.owns(nullptr));
    EXPECT_NE(heap.malloc(size), nullptr);
}

TEST(ShortLivedHeap, TakesTheFreesOfOtherThreadsAndDeclinesTheirRequests) {
    ShortLivedHeap<arenas, 1 * KiB, MmapHeap> heap;
    for (std::size_t round = 0; round < 50; ++round) {
        std::vector<void*> all;
        for (std::size_t i = 0; i < 2 * perArena; ++i) {
            all.push_back(heap.malloc(size));
            ASSERT_NE(all.back(), nullptr) << round;
        }
        std::thread([&heap, &all] {
            EXPECT_EQ(heap.malloc(size), nullptr);
            for (std::size_t i = 0; i < all.size(); i += 2) {
                heap.free(all[i]);
            }
        }).join();
        for (std::size_t i = 1; i < all.size(); i += 2) {
            heap.free(all[i]);
        }
    }
}

TEST(ShortLivedHeap, CountsFreesOfTwoThreadsAtOnce) {
    ShortLivedHeap<64, 1 * KiB, MmapHeap> heap;
    std::size_t served = 0;
    for (std::size_t round = 0; round < 50; ++round) {
        std::vector<void*> mine;
        std::vector<void*> others;
        for (std::size_t i = 0; i < 20 * perArena; ++i) {
            void* const object = heap.malloc(size);
            if (object != nullptr) {
                std::memset(object, 1, size);
                (i % 2 == 0 ? mine : others).push_back(object);
                ++served;
            }
        }
        std::thread other([&heap, &others] {
            for (void* const object : others) {
                heap.free(object);
            }
        });
        for (void* const object : mine) {
            heap.free(object);
        }
        other.join();
    }
    EXPECT_EQ(served, 50U * 20 * perArena);
}

/// A source that uses the heap above it, as a signal handler does that interrupts a request.
struct Interrupting : CountingHeap {
    static inline void (*interrupt)() = nullptr;

    void* malloc(std::size_t bytes) noexcept {
        if (interrupt != nullptr) {
            interrupt();
        }
        return CountingHeap::malloc(bytes);
    }
};

TEST(ShortLivedHeap, DeclinesARequestThatInterruptsAnother) {
    using Heap = ShortLivedHeap<arenas, 1 * KiB, Interrupting>;
    static Heap* heap = nullptr;
    static bool declined = false;
    Heap here;
    heap = &here;
    Interrupting::interrupt = [] { declined = heap->malloc(size) == nullptr; };
    void* const object = here.malloc(size);
    Interrupting::interrupt = nullptr;
    EXPECT_TRUE(declined);
    ASSERT_NE(object, nullptr);
    here.free(object);
    EXPECT_EQ(here.malloc(size), object);
}

} // namespace
} // namespace heapwright::testing

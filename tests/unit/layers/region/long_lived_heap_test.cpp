// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/region/long_lived_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

using Small = LongLivedHeap<4 * KiB, 512, CountingHeap>;

static_assert(SizedHeap<Small> && OwningHeap<Small> && ConcurrentHeap<Small>);
static_assert(LockFreeOwningHeap<Small> && TaggedHeap<Small>);

TEST(LongLivedHeap, PacksObjectsInTheirOrder) {
    Ledger::begin();
    {
        Small heap;
        EXPECT_EQ(Ledger::the().requests, 0U);
        void* const first = heap.malloc(24);
        void* const second = heap.malloc(100);
        void* const third = heap.malloc(0);
        EXPECT_EQ(addressOf(first) % 16, 0U);
        EXPECT_EQ(second, forward(first, 32));
        EXPECT_EQ(third, forward(second, 112));
        EXPECT_EQ(heap.getSize(first), 24U);
        EXPECT_EQ(heap.getSize(second), 104U);
        EXPECT_EQ(heap.getSize(third), 8U);
        EXPECT_EQ(Ledger::the().requests, 1U);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(LongLivedHeap, ReusesAFreedObjectForItsExactSize) {
    Small heap;
    void* const small = heap.malloc(24);
    void* const large = heap.malloc(200);
    heap.free(small);
    heap.free(large);
    void* const other = heap.malloc(40);
    EXPECT_NE(other, small);
    EXPECT_NE(other, large);
    EXPECT_EQ(heap.malloc(193), large);
    EXPECT_EQ(heap.malloc(20), small);
    EXPECT_EQ(heap.getSize(small), 24U);
}

TEST(LongLivedHeap, DeclinesLargeRequestsAndIfItIsFull) {
    Small heap;
    EXPECT_EQ(heap.malloc(513), nullptr);
    EXPECT_EQ(heap.malloc(SIZE_MAX), nullptr);
    std::vector<void*> all;
    while (void* const object = heap.malloc(512)) {
        std::memset(object, 1, 512);
        EXPECT_TRUE(heap.owns(forward(object, 511)));
        all.push_back(object);
    }
    EXPECT_EQ(all.size(), 7U) << "of 528 bytes in 4 KiB";
    heap.free(all[3]);
    EXPECT_EQ(heap.malloc(512), all[3]);
    EXPECT_NE(heap.malloc(100), nullptr) << "the rest of the area";
}

TEST(LongLivedHeap, KnowsItsOwnObjects) {
    Small heap;
    int outside = 0;
    EXPECT_FALSE(heap.owns(nullptr));
    EXPECT_FALSE(heap.owns(&outside));
    void* const object = heap.malloc(20);
    EXPECT_TRUE(heap.owns(object));
    EXPECT_FALSE(heap.owns(nullptr));
    EXPECT_FALSE(heap.owns(&outside));
    EXPECT_TRUE(heap.resize(object, heap.getSize(object)));
    EXPECT_FALSE(heap.resize(object, heap.getSize(object) + 1));
}

TEST(LongLivedHeap, IsNullIfTheHeapBelowIs) {
    Ledger::begin(1);
    Small heap;
    EXPECT_EQ(heap.malloc(24), nullptr);
    EXPECT_NE(heap.malloc(24), nullptr);
}

TEST(LongLivedHeap, ReusesWhatOtherThreadsFree) {
    LongLivedHeap<64 * KiB, 512, MmapHeap> heap;
    std::set<void*> seen;
    for (int round = 0; round < 100; ++round) {
        std::vector<void*> all;
        for (int i = 0; i < 20; ++i) {
            all.push_back(heap.malloc(100));
            ASSERT_NE(all.back(), nullptr) << round;
            std::memset(all.back(), round, 100);
        }
        seen.insert(all.begin(), all.end());
        std::thread other([&heap, &all] {
            EXPECT_EQ(heap.malloc(100), nullptr);
            for (std::size_t i = 0; i < all.size(); i += 2) {
                heap.free(all[i]);
            }
        });
        for (std::size_t i = 1; i < all.size(); i += 2) {
            heap.free(all[i]);
        }
        other.join();
    }
    EXPECT_EQ(seen.size(), 20U);
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

TEST(LongLivedHeap, DeclinesARequestThatInterruptsAnother) {
    using Heap = LongLivedHeap<4 * KiB, 512, Interrupting>;
    static Heap* heap = nullptr;
    static bool declined = false;
    Heap here;
    heap = &here;
    Interrupting::interrupt = [] { declined = heap->malloc(24) == nullptr; };
    void* const object = here.malloc(24);
    Interrupting::interrupt = nullptr;
    EXPECT_TRUE(declined);
    EXPECT_NE(object, nullptr);
}

} // namespace
} // namespace heapwright::testing

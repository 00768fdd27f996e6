// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How many locks an operation of the published Hoard takes without the global heap. It takes one
// for malloc and one for free. The original takes two for free, because its superblocks have locks
// of their own.
#include "counted_events.hpp"

#include <heapwright/allocators/hoard.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

TEST(CountedHoard, TakesOneLockAMallocAndOneAFree) {
    allocators::Hoard heap;
    std::vector<void*> objects(50);
    std::thread([&] { // the process has more than one thread
        for (const std::size_t size : {16U, 100U, 1000U}) {
            void* const first = heap.malloc(size); // its class has a superblock from here on
            void* const second = heap.malloc(size);
            const CountedEvents allocating;
            void* const third = heap.malloc(size);
            EXPECT_EQ(allocating.sinceThen().lockTakes, 1U);
            const CountedEvents freeing;
            heap.free(second);
            EXPECT_EQ(freeing.sinceThen().lockTakes, 1U);
            heap.free(third);
            heap.free(first);
        }
        for (void*& object : objects) {
            object = heap.malloc(64);
        }
    })
        .join();
    // Another thread's: the lock of its heap, and no other.
    for (void* const object : objects) {
        const CountedEvents freeing;
        heap.free(object);
        const EventTotals totals = freeing.sinceThen();
        EXPECT_LE(totals.lockTakes, 2U) << "as published";
        EXPECT_EQ(totals.lockTakes, 1U) << "as it is";
        EXPECT_EQ(totals.lockWaits, 0U);
    }
}

} // namespace
} // namespace heapwright::testing

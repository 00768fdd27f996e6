// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/reuse/dl_list.hpp>
#include <heapwright/layers/source/null_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heapwright::testing {
namespace {

using List = DLList<CountingHeap>;

TEST(DLList, GivesTheFirstFreedFirst) {
    Ledger::begin();
    List heap;
    void* const first = heap.malloc(32);
    void* const second = heap.malloc(32);
    heap.free(first);
    heap.free(second);
    EXPECT_EQ(heap.malloc(32), first);
    EXPECT_EQ(heap.malloc(32), second);
    EXPECT_EQ(Ledger::the().requests, 2U);
    heap.free(first);
    heap.free(second);
}

TEST(DLList, LetsAnyObjectBeTakenOut) {
    Ledger::begin();
    {
        List heap;
        std::vector<void*> objects(5);
        for (void*& object : objects) {
            object = heap.malloc(32);
        }
        for (void* const object : objects) {
            heap.free(object);
        }
        for (const std::size_t i : {2U, 0U, 4U}) { // from the middle, the front and the back
            heap.remove(objects[i]);
        }
        EXPECT_EQ(heap.malloc(32), objects[1]);
        EXPECT_EQ(heap.malloc(32), objects[3]);
        EXPECT_EQ(heap.mallocHeld(32), nullptr);
        for (void* const object : objects) {
            heap.free(object);
        }
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(DLList, NeverReturnsAnObjectThatMayBeTooSmall) {
    Ledger::begin();
    List heap;
    heap.free(heap.malloc(40));
    void* const larger = heap.malloc(41);
    EXPECT_EQ(Ledger::the().live.at(larger), 41U);
    EXPECT_EQ(Ledger::the().requests, 2U);
    heap.free(larger);
    void* const small = heap.malloc(1);
    EXPECT_EQ(Ledger::the().requests, 2U) << "raised to 16, which 40 covers";
    heap.free(small);
}

} // namespace
} // namespace heapwright::testing

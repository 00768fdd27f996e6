// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/object/coalesceable_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(CoalesceableHeap, MakesEachRequestASpanBetweenStartAndFence) {
    Ledger::begin();
    CoalesceableHeap<CountingHeap> heap;
    void* const object = heap.malloc(100);
    ASSERT_NE(object, nullptr);
    Block* const block = Block::of(object);
    EXPECT_FALSE(block->tag.has(Flag::prevFree));
    EXPECT_TRUE(block->next()->tag.is(State::fence));
    EXPECT_TRUE(heap.isWholeSpan(block));
    block->tag = Tag(block->size() - 32, State::live);
    Block::make(block->next(), 32, State::live);
    EXPECT_FALSE(heap.isWholeSpan(block));
    EXPECT_FALSE(heap.isWholeSpan(block->next()));
}

TEST(CoalesceableHeap, ReturnsASpanOnFreeAndAllAtTheEnd) {
    Ledger::begin();
    {
        CoalesceableHeap<CountingHeap> heap;
        void* objects[3];
        for (void*& object : objects) {
            object = heap.malloc(100);
        }
        heap.free(objects[1]);
        EXPECT_EQ(Ledger::the().live.size(), 2U);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(CoalesceableHeap, TurnsTheFenceIntoTheTagOfTheAddedSpan) {
    Ledger::begin();
    CoalesceableHeap<ContiguousCountingHeap> heap;
    EXPECT_EQ(heap.extend(100), nullptr) << "there is no span yet";
    void* const object = heap.malloc(100);
    Block* const fence = Block::of(object)->next();
    fence->tag.set(Flag::prevFree);
    void* const added = heap.extend(1000);
    ASSERT_EQ(Block::of(added), fence);
    EXPECT_TRUE(fence->tag.has(Flag::prevFree)) << "it still says what is before it";
    EXPECT_GE(fence->size(), 1000U - 16);
    EXPECT_TRUE(fence->next()->tag.is(State::fence));
    Block* const last = Block::of(added);
    EXPECT_TRUE(heap.shrink(last, 64));
    EXPECT_TRUE(last->next()->tag.is(State::fence) && last->next()->tag.has(Flag::prevFree));
    EXPECT_LT(last->size(), 128U);
    EXPECT_FALSE(heap.shrink(last, 4096));
}

TEST(CoalesceableHeap, DoesNotExtendAcrossAGap) {
    Ledger::begin();
    CoalesceableHeap<CountingHeap> heap;
    ASSERT_NE(heap.malloc(100), nullptr);
    EXPECT_EQ(heap.extend(100), nullptr);
    EXPECT_EQ(heap.malloc(SIZE_MAX - 8), nullptr);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How superblocks go from owner to owner. What that is good for is tested with the layer.
#include <heapwright/layers/carve/aligned_block_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/sizeclass/geometric_slots.hpp>
#include <heapwright/structure/superblock/hoard_memory.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace heapwright::testing {
namespace {

using Classes = GeometricSlots<6, 5, 16, 2 * KiB>;
using Blocks = AlignedBlockHeap<4 * KiB, 1 * MiB, MmapHeap>;

/// A choice that the test makes.
struct Chosen {
    static constexpr std::size_t count = 4;
    static std::size_t mine() { return now; }
    static inline std::size_t now = 0;
};

template <class Rule, class Lines>
struct Memory : HoardMemory<Classes, Chosen, Rule, Lines, Blocks> {
    using Base = HoardMemory<Classes, Chosen, Rule, Lines, Blocks>;
    using Base::globalTakes;
    using typename Base::Block;

    static constexpr std::size_t sizeClass = Classes::classFor(64);

    void* take() {
        auto& heap = this->heapOfThread();
        const typename Base::Hold hold(heap.lock);
        return this->allocate(heap, sizeClass);
    }
    void giveBack(void* object) {
        Block& block = Block::of(object);
        auto& owner = this->lockOwner(block, "free");
        this->freeInto(owner, block, object);
        owner.lock.unlock();
    }
    void* ownerOf(void* object) { return Block::of(object).owner.load(std::memory_order_relaxed); }
    void* heap(std::size_t index) {
        Chosen::now = index;
        return &this->heapOfThread();
    }
    void* globalHeap() { return &this->global(); }
    std::vector<void*> takeMany(std::size_t number) {
        std::vector<void*> objects;
        while (objects.size() < number) {
            objects.push_back(take());
        }
        return objects;
    }
    auto figures() { return this->figuresOf(sizeClass); }
    std::size_t perBlock() { return Base::Superblocks::layoutOf(sizeClass).count; }
};

using Hoard = Memory<Verified<Emptiness<1, 4, 1>>, AnyLines>;
using CleanHoard = Memory<Verified<Emptiness<1, 4, 1>>, CleanLines>;

TEST(HoardMemory, TakesFromTheHeapThatIsChosen) {
    Hoard memory;
    for (std::size_t index = 0; index < 4; ++index) {
        void* const heap = memory.heap(index);
        EXPECT_EQ(memory.ownerOf(memory.take()), heap);
    }
    EXPECT_EQ(memory.figures().heaps, 4U);
    EXPECT_EQ(memory.figures().used, 4U);
}

TEST(HoardMemory, FreeReturnsToTheSuperblockFromAnyThread) {
    Hoard memory;
    Chosen::now = 1;
    void* const object = memory.take();
    Chosen::now = 2;
    memory.giveBack(object);
    EXPECT_NE(memory.take(), object);
    Chosen::now = 1;
    EXPECT_EQ(memory.take(), object);
}

TEST(HoardMemory, MovesAMostlyEmptySuperblockToAnotherHeap) {
    Hoard memory;
    void* const one = memory.heap(1);
    const std::size_t each = memory.perBlock();
    const std::vector<void*> objects = memory.takeMany(8 * each);
    // All but the first object of each superblock: none becomes empty.
    for (std::size_t at = 0; at < objects.size(); ++at) {
        if (at % each != 0) {
            memory.giveBack(objects[at]);
        }
    }
    const auto figures = memory.figures();
    EXPECT_GT(figures.heldGlobal, 0U);
    EXPECT_EQ(figures.held + figures.heldGlobal, 8 * each) << "nothing is lost";
    std::size_t ofGlobal = 0;
    for (std::size_t at = 0; at < objects.size(); at += each) {
        void* const owner = memory.ownerOf(objects[at]);
        EXPECT_TRUE(owner == one || owner == memory.globalHeap());
        ofGlobal += owner == memory.globalHeap() ? 1U : 0U;
    }
    EXPECT_EQ(ofGlobal * each, figures.heldGlobal);
    void* const two = memory.heap(2);
    void* const taken = memory.take();
    EXPECT_EQ(memory.ownerOf(taken), two);
    EXPECT_EQ(memory.figures().heldGlobal, figures.heldGlobal - each) << "no new one was made";
    EXPECT_EQ(memory.figures().held, figures.held + each);
}

TEST(HoardMemory, ReleasesEmptySuperblocksOfTheGlobalHeap) {
    Hoard memory;
    Chosen::now = 1;
    const std::size_t each = memory.perBlock();
    const std::vector<void*> objects = memory.takeMany(8 * each);
    for (void* const object : objects) {
        memory.giveBack(object);
    }
    EXPECT_EQ(memory.figures().heldGlobal, 0U);
    EXPECT_LE(memory.figures().held, each + 1);
    EXPECT_GT(memory.globalTakes(), 8U);
}

/// What a superblock's next owner gets from it shares no line with what was live before.
TEST(HoardMemory, KeepsTheLinesOfTwoOwnersApart) {
    CleanHoard memory;
    Chosen::now = 1;
    const std::size_t each = memory.perBlock();
    const std::vector<void*> objects = memory.takeMany(8 * each);
    std::vector<void*> kept;
    for (std::size_t at = 0; at < objects.size(); ++at) {
        if (at % 5 == 0) {
            kept.push_back(objects[at]);
        } else {
            memory.giveBack(objects[at]);
        }
    }
    ASSERT_GT(memory.figures().heldGlobal, 0U);
    Chosen::now = 2;
    std::size_t inTransferred = 0;
    for (void* const object : memory.takeMany(4 * each)) {
        for (void* const old : kept) {
            ASSERT_NE(addressOf(object) / 64, addressOf(old) / 64);
            inTransferred += addressOf(object) / (4 * KiB) == addressOf(old) / (4 * KiB) ? 1U : 0U;
        }
    }
    EXPECT_GT(inTransferred, 0U) << "they were used as far as they may";
}

TEST(HoardMemoryDeathTest, AbortsOnAFreeIntoASuperblockWithoutOwner) {
    Hoard memory;
    Chosen::now = 1;
    const std::vector<void*> objects = memory.takeMany(8 * memory.perBlock());
    for (void* const object : objects) {
        memory.giveBack(object);
    }
    void* orphan = nullptr;
    for (void* const object : objects) {
        orphan = memory.ownerOf(object) == nullptr ? object : orphan;
    }
    ASSERT_NE(orphan, nullptr);
    EXPECT_DEATH(memory.giveBack(orphan), "heapwright: free\\(\\): invalid pointer\n");
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/object/coalesceable_heap.hpp>
#include <heapwright/structure/fit/merging_blocks.hpp>

#include <support/counting_heap.hpp>
#include <support/history.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

namespace heapwright::testing {
namespace {

/// A fit that looks at what it is given: every block whole, known as free to both neighbours, and
/// no neighbour of another free one. There is one heap at a time, so it keeps all it has in one
/// place, where the tests can see it.
class CheckingFit {
public:
    static inline std::set<Block*> has;
    static inline std::size_t most = 0;

    CheckingFit() { has.clear(); }

    static void add(Block* block) {
        EXPECT_TRUE(has.insert(block).second) << "it is here already";
        most = has.size() > most ? has.size() : most;
        EXPECT_TRUE(block->tag.is(State::free) && block->tag.has(Flag::binned));
        EXPECT_GE(block->size(), Block::minSize);
        Block* const next = block->next();
        EXPECT_TRUE(next->tag.has(Flag::prevFree));
        EXPECT_EQ(next->previous(), block);
        EXPECT_FALSE(next->tag.has(Flag::binned)) << "the neighbour is free too";
        EXPECT_FALSE(block->tag.has(Flag::prevFree)) << "the neighbour before is free too";
    }
    static void remove(Block* block) { EXPECT_EQ(has.erase(block), 1U); }
    static Block* takeFit(std::size_t size) {
        for (Block* const block : has) {
            if (block->size() >= size) {
                has.erase(block);
                return block;
            }
        }
        return nullptr;
    }
    static void forEach(auto visit) {
        for (Block* const block : has) {
            visit(block);
        }
    }
    static void clear() { has.clear(); }
};

/// As a layer is made of it.
template <class Source>
class Blocks : public MergingBlocks<CheckingFit, 4 * KiB, CoalesceableHeap<Source>> {
public:
    [[maybe_unused]] static constexpr std::string_view caption = "checks its fit";
    using Below = Heaps<CoalesceableHeap<Source>>;
};

TEST(MergingBlocks, KeepsItsInvariantsOverRandomHistories) {
    for (const std::uint32_t seed : {1U, 2U, 3U}) {
        Ledger::begin();
        CheckingFit::most = 0;
        {
            Blocks<CountingHeap> heap;
            runHistory(heap, seed);
            EXPECT_LE(CheckingFit::has.size(), Ledger::the().live.size()) << "all is merged";
        }
        EXPECT_GT(CheckingFit::most, 20U) << "there was something to check";
        EXPECT_TRUE(Ledger::the().live.empty());
    }
}

TEST(MergingBlocks, KeepsInvariantsOverGrowingAndZeroingSources) {
    Ledger::begin();
    {
        Blocks<ContiguousCountingHeap> heap;
        runHistory(heap, 4);
    }
    {
        Blocks<ZeroingCountingHeap> heap;
        runHistory(heap, 5);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(MergingBlocks, AsksTheFitBeforeTheTopAndTheTopBeforeTheHeapBelow) {
    Ledger::begin();
    Blocks<CountingHeap> heap;
    void* const object = heap.malloc(1000);
    void* const wall = heap.malloc(16);
    EXPECT_TRUE(CheckingFit::has.empty());
    heap.free(object);
    EXPECT_EQ(CheckingFit::has.size(), 1U);
    EXPECT_EQ(heap.malloc(1000), object);
    EXPECT_TRUE(CheckingFit::has.empty());
    heap.free(heap.malloc(1000)); // of the top, and back to it
    EXPECT_TRUE(CheckingFit::has.empty());
    EXPECT_EQ(Ledger::the().requests, 1U);
    EXPECT_NE(heap.malloc(5000), nullptr);
    EXPECT_EQ(Ledger::the().requests, 2U);
    EXPECT_EQ(CheckingFit::has.size(), 1U) << "the top of before";
    heap.free(object);
    heap.free(wall);
}

TEST(MergingBlocks, ChangesNothingWithoutMemory) {
    Ledger::begin();
    Blocks<CountingHeap> heap;
    auto* const object = static_cast<unsigned char*>(heap.malloc(1000));
    std::memset(object, 7, 1000);
    Ledger::the().refuse = Ledger::all;
    EXPECT_EQ(heap.malloc(100'000), nullptr);
    EXPECT_EQ(heap.memalign(4096, 100'000), nullptr);
    EXPECT_FALSE(heap.resize(object, 100'000));
    EXPECT_EQ(heap.getSize(object), 1000U);
    EXPECT_EQ(std::count(object, object + 1000, 7), 1000);
    void* const held = heap.malloc(1000);
    EXPECT_NE(held, nullptr) << "what is there serves on";
    heap.free(held);
    heap.free(object);
}

TEST(MergingBlocks, ClearReturnsAllMemoryWithLiveObjects) {
    Ledger::begin();
    Blocks<CountingHeap> heap;
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < 100; ++i) {
            void* const object = heap.malloc(100 + i * 50);
            if (i % 3 == 0) {
                heap.free(object);
            }
        }
        EXPECT_FALSE(CheckingFit::has.empty());
        heap.clear();
        EXPECT_TRUE(CheckingFit::has.empty());
        EXPECT_TRUE(Ledger::the().live.empty());
        EXPECT_EQ(heap.mallocHeld(16), nullptr);
    }
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/concepts.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

struct Least {
    static constexpr std::size_t alignment = 16;
    void* malloc(std::size_t) noexcept { return nullptr; }
    void free(void*) {}
};

struct Phased : Least {
    static constexpr std::size_t alignmentOffset = 8;
    std::size_t getSize(void*) { return 0; }
};

struct Throwing : Least {
    void* malloc(std::size_t) { throw 1; }
};

struct SharedByThreads : Least {
    static constexpr bool concurrent = true;
    static constexpr bool acceptsForeignObjects = false;
};

struct WrongResult : Least {
    int getSize(void*) { return 0; }
    int clear() { return 0; }
};

TEST(Concepts, TakeTheLeastHeap) {
    EXPECT_TRUE(Heap<Least>);
    EXPECT_FALSE(Heap<int>);
    EXPECT_FALSE(Heap<Throwing>) << "a heap answers null";
}

TEST(Concepts, TellACapabilityByItsVerb) {
    EXPECT_FALSE(SizedHeap<Least>);
    EXPECT_TRUE(SizedHeap<Phased>);
    EXPECT_FALSE(ClearableHeap<Phased> || AlignedHeap<Phased> || ZeroingHeap<Phased>);
    EXPECT_FALSE(ResizableHeap<Phased> || RelocatingHeap<Phased> || HoldingHeap<Phased>);
    EXPECT_FALSE(FlushableHeap<Phased> || TrimmableHeap<Phased> || MeasurableHeap<Phased>);
    EXPECT_FALSE(ForkableHeap<Phased> || RecyclingHeap<Phased>);
}

TEST(Concepts, RefuseAVerbWithAnotherResult) {
    EXPECT_TRUE(Heap<WrongResult>);
    EXPECT_FALSE(SizedHeap<WrongResult> || ClearableHeap<WrongResult>);
}

TEST(Concepts, TakeThePhaseForZeroUnlessItIsGiven) {
    EXPECT_EQ(alignmentOffsetOf<Least>, 0U);
    EXPECT_EQ(alignmentOffsetOf<Phased>, 8U);
}

TEST(Concepts, AskAHeapWhatItsVerbsCannotShow) {
    EXPECT_TRUE(ConcurrentHeap<SharedByThreads>);
    EXPECT_FALSE(ForeignFreeHeap<SharedByThreads>) << "it says no";
    EXPECT_FALSE(ConcurrentHeap<Least> || ForeignFreeHeap<Least> || UniquelyNamedHeap<Least>);
}

TEST(MemoryUsage, CountsASharedHeapOnce) {
    MemoryUsage usage;
    const int first = 0;
    const int second = 0;
    EXPECT_TRUE(usage.firstVisit(&first));
    EXPECT_TRUE(usage.firstVisit(&second));
    EXPECT_FALSE(usage.firstVisit(&first));
    EXPECT_FALSE(usage.firstVisit(&second));
}

TEST(MemoryUsage, CountsAHeapForWhichThereIsNoRoom) {
    MemoryUsage usage;
    const std::array<int, 9> heaps = {};
    for (const int& heap : heaps) {
        EXPECT_TRUE(usage.firstVisit(&heap));
    }
    EXPECT_TRUE(usage.firstVisit(&heaps.back()));
}

} // namespace
} // namespace heapwright::testing

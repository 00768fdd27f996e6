// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/concepts.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

struct Least {
    static constexpr std::size_t alignment = 16;
    void* malloc(std::size_t) { return nullptr; }
    void free(void*) {}
};

struct Phased : Least {
    static constexpr std::size_t phase = 8;
    std::size_t getSize(void*) { return 0; }
};

struct WrongResult : Least {
    int getSize(void*) { return 0; }
    int clear() { return 0; }
};

TEST(Concepts, TakeTheLeastHeap) {
    EXPECT_TRUE(Heap<Least>);
    EXPECT_FALSE(Heap<int>);
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
    EXPECT_EQ(phaseOf<Least>, 0U);
    EXPECT_EQ(phaseOf<Phased>, 8U);
}

} // namespace
} // namespace heapwright::testing

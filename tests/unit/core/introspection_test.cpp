// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/introspection.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

struct Least {
    static constexpr std::size_t alignment = 16;
    void* malloc(std::size_t) noexcept { return nullptr; }
    void free(void*) {}
};

struct Rich : Least {
    void measure(MemoryUsage&) {}
    void inspect(HeapSnapshot&) {}
    void walk(const ObjectVisitor&) {}
    template <class Visit>
    void forEachRun(Visit) {}
    bool owns(const void*) { return false; }
    bool mark(const void*) { return false; }
    void unmark() {}
    void check(void*, std::string_view) {}
    std::size_t getSizeUnlocked(void*) { return 0; }
};

struct ConstOwning : Least {
    bool owns(const void*) const { return false; }
};

TEST(Introspection, ConceptsDependOnTheVerbs) {
    EXPECT_TRUE(MeasurableHeap<Rich> && InspectableHeap<Rich> && WalkableHeap<Rich>);
    EXPECT_TRUE(RunListingHeap<Rich> && OwningHeap<Rich> && MarkingHeap<Rich>);
    EXPECT_TRUE(CheckingHeap<Rich> && UnlockedSizeHeap<Rich>);
    EXPECT_FALSE(MeasurableHeap<Least> || InspectableHeap<Least> || WalkableHeap<Least>);
    EXPECT_FALSE(RunListingHeap<Least> || OwningHeap<Least> || MarkingHeap<Least>);
    EXPECT_FALSE(CheckingHeap<Least> || UnlockedSizeHeap<Least>);
}

TEST(Introspection, DetectsConstMemberFunctions) {
    EXPECT_TRUE(ConstOwningHeap<ConstOwning>);
    EXPECT_FALSE(ConstOwningHeap<Rich>);
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

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/region/nested_heap.hpp>

#include <heapwright/layers/region/obstack_heap.hpp>
#include <heapwright/layers/region/region_heap.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>
#include <heapwright/layers/source/null_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

using Nested = NestedHeap<RegionHeap<1 * KiB, 8 * KiB, CountingHeap>>;

static_assert(ClearableHeap<Nested> && OwningHeap<Nested> && AlignedHeap<Nested>);
static_assert(!SizedHeap<Nested> && !ZeroingHeap<Nested> && !ResizableHeap<Nested>);
static_assert(!HoldingHeap<Nested> && !FlushableHeap<Nested> && !TrimmableHeap<Nested>);

// A child leaves in any order.
using Stacked = NestedHeap<ObstackHeap<1 * KiB, CountingHeap>>;
template <class H>
constexpr bool makesChildren = requires(H heap) { heap.makeChild(); };
static_assert(stackHeap<Stacked> && makesChildren<Nested> && !makesChildren<Stacked>);

std::size_t chunks() {
    return Ledger::the().live.size();
}

TEST(NestedHeap, ClearingAParentClearsItsChildrenAndTheirs) {
    Ledger::begin();
    Nested parent;
    Nested child(parent);
    Nested grandchild(child);
    for (Nested* const heap : {&parent, &child, &grandchild}) {
        ASSERT_NE(heap->malloc(100), nullptr);
    }
    EXPECT_EQ(chunks(), 3U);
    child.clear();
    EXPECT_EQ(chunks(), 1U);
    ASSERT_NE(grandchild.malloc(100), nullptr);
    parent.clear();
    EXPECT_EQ(chunks(), 0U);
    ASSERT_NE(child.malloc(100), nullptr); // and they are of use again
    EXPECT_EQ(child.parent(), &parent);
}

TEST(NestedHeap, DestroyingAParentClearsItsChildrenWhichLiveOnWithout) {
    Ledger::begin();
    std::optional<Nested> parent(std::in_place);
    Nested child(*parent);
    ASSERT_NE(child.malloc(100), nullptr);
    parent.reset();
    EXPECT_EQ(chunks(), 0U);
    EXPECT_EQ(child.parent(), nullptr);
    ASSERT_NE(child.malloc(100), nullptr);
}

TEST(NestedHeap, AChildLeavesItsParentInAnyOrder) {
    Ledger::begin();
    Nested parent;
    std::optional<Nested> first(std::in_place, parent);
    std::optional<Nested> second(std::in_place, parent);
    std::optional<Nested> third(std::in_place, parent);
    for (auto* const child : {&second, &first, &third}) {
        ASSERT_NE((*child)->malloc(100), nullptr);
        child->reset();
        EXPECT_EQ(chunks(), 0U);
        parent.clear(); // walks over those that are left
    }
}

TEST(NestedHeap, AChildInItsParentsMemoryIsDestroyedWithIt) {
    Ledger::begin();
    {
        Nested parent;
        Nested* const child = parent.makeChild();
        ASSERT_NE(child, nullptr);
        EXPECT_TRUE(parent.owns(child));
        Nested* const grandchild = child->makeChild();
        ASSERT_NE(grandchild, nullptr);
        EXPECT_TRUE(child->owns(grandchild));
        ASSERT_NE(grandchild->malloc(5000), nullptr);
        EXPECT_EQ(chunks(), 3U); // one each, and no other for the heaps themselves
        parent.clear();
        EXPECT_EQ(chunks(), 0U);
        Nested* const other = parent.makeChild();
        ASSERT_NE(other->malloc(100), nullptr);
    }
    EXPECT_EQ(chunks(), 0U);
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(NestedHeap, AChildInItsParentsMemoryMayEndBefore) {
    Ledger::begin();
    Nested parent;
    Nested* const first = parent.makeChild();
    Nested* const second = parent.makeChild();
    ASSERT_NE(first->malloc(100), nullptr);
    ASSERT_NE(second->malloc(100), nullptr);
    parent.endChild(first);
    EXPECT_EQ(chunks(), 2U);
    parent.clear();
    EXPECT_EQ(chunks(), 0U);
}

TEST(NestedHeap, AChildMayStandInMemoryThatTheParentGaveOutBefore) {
    Ledger::begin();
    {
        Nested parent;
        Nested* const child = parent.makeChildAt(parent.malloc(sizeof(Nested)), nullptr);
        EXPECT_EQ(child->parent(), &parent);
        ASSERT_NE(child->malloc(100), nullptr);
        EXPECT_EQ(chunks(), 2U);
        parent.clear();
        EXPECT_EQ(chunks(), 0U);
    }
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(NestedHeap, TheMemoryOfAChildReturnsWhenItEnds) {
    static std::size_t released = 0;
    released = 0;
    const auto release = [](Nested* child) noexcept {
        ++released;
        std::free(child);
    };
    Ledger::begin();
    {
        Nested parent;
        const auto add = [&](Nested& to) {
            return to.makeChildAt(std::malloc(sizeof(Nested)), release);
        };
        Nested* const first = add(parent);
        ASSERT_NE(add(*add(*first))->malloc(100), nullptr);
        parent.endChild(first);
        EXPECT_EQ(released, 3U);
        ASSERT_NE(add(*add(parent))->malloc(100), nullptr);
        ASSERT_NE(parent.makeChild(), nullptr);
        parent.clear();
        EXPECT_EQ(released, 5U);
        add(*add(parent));
    }
    EXPECT_EQ(released, 7U);
    EXPECT_EQ(chunks(), 0U);
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

// Each in the one before, and all in one: no stack is deep enough for a call for each.
TEST(NestedHeap, AMillionHeapsEndWithTheirParent) {
    constexpr std::size_t number = 1'000'000;
    using Small = NestedHeap<RegionHeap<128, 128, NullHeap>>;
    std::vector<std::byte> memory(number * sizeof(Small));
    for (const bool deep : {true, false}) {
        static std::size_t ended = 0;
        ended = 0;
        Small root;
        Small* parent = &root;
        for (std::size_t i = 0; i < number; ++i) {
            Small* const child = parent->makeChildAt(&memory[i * sizeof(Small)],
                                                     [](Small* /*child*/) noexcept { ++ended; });
            parent = deep ? child : parent;
        }
        root.clear();
        EXPECT_EQ(ended, number);
    }
}

TEST(NestedHeap, HeapsOfTheProgramAmongThoseThatEndLiveOn) {
    Ledger::begin();
    Nested root;
    Nested* const inside = root.makeChild();
    Nested mine(*inside);
    Nested* const insideMine = mine.makeChild();
    Nested below(*insideMine);
    for (Nested* const heap : {&root, inside, &mine, insideMine, &below}) {
        ASSERT_NE(heap->malloc(100), nullptr);
    }
    root.clear();
    EXPECT_EQ(chunks(), 0U);
    EXPECT_EQ(mine.parent(), nullptr);
    EXPECT_EQ(below.parent(), nullptr);
    ASSERT_NE(mine.malloc(100), nullptr);
    ASSERT_NE(below.malloc(100), nullptr);
    mine.leave(); // has none: nothing happens
    Nested other(mine);
    EXPECT_EQ(other.parent(), &mine);
    other.leave();
    mine.clear();
    EXPECT_EQ(other.parent(), nullptr);
}

TEST(NestedHeap, ThreadsMakeAndEndChildrenOfASharedOne) {
    using Shared = NestedHeap<LockedHeap<FutexLock, RegionHeap<1 * KiB, 8 * KiB, MallocHeap>>>;
    static_assert(ConcurrentHeap<Shared> && !ConcurrentHeap<Nested>);
    Shared root;
    std::vector<std::thread> threads;
    std::atomic<int> failed = 0;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            for (int round = 0; round < 2000; ++round) {
                Shared child(root);
                Shared* const other = root.makeChild();
                if (other == nullptr || root.malloc(10) == nullptr || child.malloc(10) == nullptr) {
                    ++failed;
                    return;
                }
                root.endChild(other);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(failed, 0);
    Shared last(root);
    EXPECT_EQ(last.parent(), &root);
}

TEST(NestedHeap, MakeChildReturnsNullWithoutMemory) {
    Ledger::begin(Ledger::all);
    Nested parent;
    EXPECT_EQ(parent.makeChild(), nullptr);
    EXPECT_EQ(parent.malloc(100), nullptr);
    Ledger::begin();
    EXPECT_NE(parent.makeChild(), nullptr);
}

TEST(NestedHeap, HasTheVerbsOfTheSuperheap) {
    Ledger::begin();
    Nested heap;
    EXPECT_EQ(addressOf(heap.memalign(512, 10)) % 512, 0U);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_GT(usage.mapped, 0U);
    static_assert(AreaHeap<Nested> && !AreaHeap<Stacked>);
    std::size_t granted = 0;
    void* const area = heap.mallocArea(100, granted);
    EXPECT_GE(granted, 100U);
    EXPECT_TRUE(heap.owns(area));
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/null_heap.hpp>
#include <heapwright/sizeclass/power_of_two.hpp>
#include <heapwright/structure/list/class_lists.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heapwright::testing {
namespace {

using Nothing = FreelistHeap<NullHeap>;

/// Two with the same lists, one on the other: each reaches its own.
class Lower : private ClassLists<Lower, Nothing, PowerOfTwo<3>> {
public:
    [[maybe_unused]] void put(std::size_t list, void* object) { lists_[list].free(object); }
};
class Upper : private ClassLists<Upper, Nothing, PowerOfTwo<3>>, private Lower {
    using Lists = ClassLists<Upper, Nothing, PowerOfTwo<3>>;

public:
    void put(std::size_t list, void* object) { Lists::lists_[list].free(object); }
    void putBelow(std::size_t list, void* object) { Lower::put(list, object); }
    using Lists::clearLists;
    using Lists::flushLists;
    using Lists::measureLists;
};

struct Collector {
    std::vector<void*> freed;
    void free(void* object) { freed.push_back(object); }
};

TEST(ClassLists, FlushReleasesAndMeasureCountsAllObjects) {
    void* objects[4][2] = {}; // a word each, for the link; they outlive the lists
    Upper heap;
    heap.put(0, objects[0]);
    heap.put(2, objects[1]);
    heap.put(2, objects[2]);
    heap.putBelow(1, objects[3]);
    MemoryUsage usage;
    heap.measureLists(usage);
    EXPECT_EQ(usage.heldCount, 3U);
    EXPECT_EQ(usage.held, 8U + 2 * 56U);
    Collector below;
    EXPECT_TRUE(heap.flushLists(below));
    EXPECT_EQ(below.freed, (std::vector<void*>{objects[0], objects[2], objects[1]}));
    EXPECT_FALSE(heap.flushLists(below)) << "they are empty";
}

TEST(ClassLists, DropWaitingObjects) {
    void* objects[2][2] = {};
    Upper heap;
    heap.put(0, objects[0]);
    heap.put(2, objects[1]);
    heap.clearLists();
    Collector below;
    EXPECT_FALSE(heap.flushLists(below));
}

struct Wide {
    [[maybe_unused]] static constexpr std::size_t leastObject = 57;
};

TEST(ClassLists, RequireClassesThatHoldTheLinks) {
    static_assert(KeepsClasses<Nothing, PowerOfTwo<1>>);
    static_assert(KeepsClasses<Wide, PowerOfTwo<4>>);
    static_assert(!KeepsClasses<Wide, PowerOfTwo<3>>);
}

} // namespace
} // namespace heapwright::testing

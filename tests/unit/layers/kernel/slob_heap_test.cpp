// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/kernel/slob_heap.hpp>

#include "kernel_suite.hpp"

namespace heapwright::testing {
namespace {

using Slob = SlobHeap<FutexLock, KernelPages>;

INSTANTIATE_TYPED_TEST_SUITE_P(Slob, KernelHeap, Slob);

TEST(SlobHeap, LetsObjectsOfManySizesShareAPage) {
    Slob heap;
    auto* const one = heap.createCache({"one", 40});
    auto* const other = heap.createCache({"other", 104});
    void* const first = heap.take(*one);
    void* const second = heap.take(*other);
    EXPECT_EQ(addressOf(first) / bytesOfPage, addressOf(second) / bytesOfPage);
    void* const large = heap.malloc(2000); // on another list
    EXPECT_NE(addressOf(first) / bytesOfPage, addressOf(large) / bytesOfPage);
}

TEST(SlobHeap, NeedsNoMoreThanTheObjectsInACache) {
    Slob heap;
    auto* const cache = heap.createCache({"exact", 40, 8});
    const std::size_t before = figuresOf(heap, "all", 8).pages;
    for (int each = 0; each < 102 * 50; ++each) { // 102 * 40 bytes fit into a page
        ASSERT_NE(heap.take(*cache), nullptr);
    }
    EXPECT_LE(figuresOf(heap, "all", 8).pages, before + 50);
}

TEST(SlobHeap, ServesTheFirstBlockThatIsLargeEnoughAndMergesNeighbours) {
    Slob heap;
    auto* const cache = heap.createCache({"block", 64, 8});
    auto* const twice = heap.createCache({"twice", 128, 8});
    std::vector<void*> objects;
    for (int each = 0; each < 20; ++each) {
        objects.push_back(heap.take(*cache));
    }
    heap.put(*cache, objects[3]);
    heap.put(*cache, objects[9]);
    EXPECT_EQ(heap.take(*cache), objects[3]);
    heap.put(*cache, objects[10]);
    EXPECT_EQ(heap.take(*twice), objects[9]);
}

TEST(SlobHeap, ReturnsAPageAsSoonAsItIsFree) {
    Slob heap;
    void* const object = heap.malloc(100);
    EXPECT_EQ(figuresOf(heap, "all", 8).pages, 1U);
    heap.free(object);
    EXPECT_EQ(figuresOf(heap, "all", 8).pages, 0U);
}

} // namespace
} // namespace heapwright::testing

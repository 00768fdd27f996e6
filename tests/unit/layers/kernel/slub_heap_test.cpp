// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/kernel/slub_heap.hpp>

#include "kernel_suite.hpp"

namespace heapwright::testing {
namespace {

using Slub = SlubHeap<FourProcessors, FutexLock, KernelPages>;

INSTANTIATE_TYPED_TEST_SUITE_P(Slub, KernelHeap, Slub);

TEST(SlubHeap, ReturnsEmptySlabsBeyondAFew) {
    Slub heap;
    auto* const cache = heap.createCache({"file", 256});
    std::vector<void*> objects;
    for (int each = 0; each < 3000; ++each) {
        objects.push_back(heap.take(*cache));
    }
    const std::size_t full = figuresOf(heap, "file", 256).slabs;
    EXPECT_GE(full, 3000U / 16);
    for (void* const object : objects) {
        heap.put(*cache, object);
    }
    // Those of the node's least, of the processor, and the active one.
    EXPECT_LE(figuresOf(heap, "file", 256).slabs, 5U + 7U + 1U);
    EXPECT_TRUE(heap.shrinkCache(*cache));
    EXPECT_EQ(figuresOf(heap, "file", 256).slabs, 0U);
}

TEST(SlubHeap, MergesCachesOfLikeObjectsUnlessTheyKeepState) {
    Slub heap;
    auto* const one = heap.createCache({"one", 80});
    EXPECT_EQ(heap.createCache({"other", 80}), one);
    EXPECT_NE(heap.createCache({"larger", 96}), one);
    EXPECT_NE(heap.createCache(Constructed::traits(80)), one);
    CacheTraits reclaimable{"reclaimable", 80};
    reclaimable.reclaimable = true;
    EXPECT_NE(heap.createCache(reclaimable), one);
    void* const object = heap.take(*one);
    EXPECT_TRUE(heap.destroyCache(*one)); // another owner has it
    heap.put(*one, object);
    EXPECT_TRUE(heap.destroyCache(*one));
}

TEST(SlubHeap, CountsFreesOnAnotherProcessor) {
    Slub heap;
    auto* const cache = heap.createCache({"skb", 200});
    FourProcessors::beOn(0);
    void* const object = heap.take(*cache);
    void* const other = heap.take(*cache);
    heap.put(*cache, object);
    EXPECT_EQ(figuresOf(heap, "skb", 200).remoteFrees, 0U);
    FourProcessors::beOn(3);
    heap.put(*cache, other);
    EXPECT_EQ(figuresOf(heap, "skb", 200).remoteFrees, 1U);
}

} // namespace
} // namespace heapwright::testing

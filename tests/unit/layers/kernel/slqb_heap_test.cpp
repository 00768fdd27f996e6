// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/kernel/slqb_heap.hpp>

#include "kernel_suite.hpp"

namespace heapwright::testing {
namespace {

using Slqb = SlqbHeap<FourProcessors, FutexLock, KernelPages>;

INSTANTIATE_TYPED_TEST_SUITE_P(Slqb, KernelHeap, Slqb);

TEST(SlqbHeap, ReturnsABatchWhenAQueueIsTooLong) {
    Slqb heap;
    auto* const cache = heap.createCache({"bio", 256}); // batches of 256 objects, 1,024 at most
    std::vector<void*> objects;
    for (int each = 0; each < 6000; ++each) {
        objects.push_back(heap.take(*cache));
    }
    const std::size_t slabs = figuresOf(heap, "bio", 256).slabs;
    EXPECT_EQ(slabs, 375U);
    std::size_t freed = 0;
    for (; freed < 1024; ++freed) {
        heap.put(*cache, objects[freed]);
    }
    EXPECT_EQ(figuresOf(heap, "bio", 256).slabs, slabs);
    for (; freed < objects.size(); ++freed) {
        heap.put(*cache, objects[freed]);
    }
    EXPECT_LE(figuresOf(heap, "bio", 256).slabs, (1024U + 256U) / 16);
}

TEST(SlqbHeap, SendsObjectsFreedOnOtherProcessorsToTheirOwner) {
    Slqb heap;
    auto* const cache = heap.createCache({"skb", 256});
    FourProcessors::beOn(1);
    std::vector<void*> objects;
    for (int each = 0; each < 2000; ++each) {
        objects.push_back(heap.take(*cache));
    }
    const std::size_t slabs = figuresOf(heap, "skb", 256).slabs;
    FourProcessors::beOn(2);
    for (void* const object : objects) {
        heap.put(*cache, object);
    }
    EXPECT_EQ(figuresOf(heap, "skb", 256).remoteFrees, 2000U);
    // The other processor does not serve them: it needs pages of its own.
    const std::set<void*> theirs(objects.begin(), objects.end());
    EXPECT_EQ(theirs.count(heap.take(*cache)), 0U);
    EXPECT_EQ(figuresOf(heap, "skb", 256).slabs, slabs + 1);
    // Their owner has them again.
    FourProcessors::beOn(1);
    for (int each = 0; each < 1500; ++each) {
        ASSERT_EQ(theirs.count(heap.take(*cache)), 1U);
    }
    EXPECT_EQ(figuresOf(heap, "skb", 256).slabs, slabs + 1);
}

} // namespace
} // namespace heapwright::testing

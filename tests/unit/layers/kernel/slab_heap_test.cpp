// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/kernel/slab_heap.hpp>

#include "kernel_suite.hpp"

namespace heapwright::testing {
namespace {

using Slab = SlabHeap<FourProcessors, FutexLock, KernelPages>;

INSTANTIATE_TYPED_TEST_SUITE_P(Slab, KernelHeap, Slab);

TEST(SlabHeap, ShiftsObjectsByTheColourFromSlabToSlab) {
    Slab heap;
    auto* const cache = heap.createCache({"coloured", 192, 64});
    std::set<std::size_t> firsts;
    for (int each = 0; each < 200; ++each) {
        const std::size_t offset = addressOf(heap.take(*cache)) % bytesOfPage;
        if (offset < 192) {
            firsts.insert(offset);
        }
    }
    EXPECT_EQ(firsts, (std::set<std::size_t>{0, 64}));
}

TEST(SlabHeap, ServesTheLastFreedFirst) {
    Slab heap;
    void* const first = heap.malloc(100);
    void* const second = heap.malloc(100);
    heap.free(first);
    heap.free(second);
    EXPECT_EQ(heap.malloc(100), second);
    EXPECT_EQ(heap.malloc(100), first);
}

TEST(SlabHeap, KeepsEmptySlabsUpToItsLimitOfFreeObjects) {
    Slab heap;
    auto* const cache = heap.createCache({"dentry", 192, 64});
    std::vector<void*> objects;
    for (int each = 0; each < 21 * 200; ++each) {
        objects.push_back(heap.take(*cache));
    }
    EXPECT_GE(figuresOf(heap, "dentry", 192).slabs, 200U);
    for (void* const object : objects) {
        heap.put(*cache, object);
    }
    // (1 + 4) * 60 + 21 free objects in slabs, 120 and 480 in arrays, and what these hold partly.
    const CacheFigures figures = figuresOf(heap, "dentry", 192);
    EXPECT_GT(figures.slabs, 0U);
    EXPECT_LE(figures.objects, 321U + 120U + 480U + 21U * 60U);
    EXPECT_EQ(figures.live, 0U);
    EXPECT_TRUE(heap.shrinkCache(*cache));
    EXPECT_EQ(figuresOf(heap, "dentry", 192).slabs, 0U);
}

TEST(SlabHeap, ConstructsWhenPagesComeAndNotAgain) {
    Slab heap;
    auto* const cache = heap.createCache(Constructed::traits(200));
    for (int each = 0; each < 100; ++each) {
        heap.put(*cache, heap.take(*cache));
    }
    EXPECT_EQ(Constructed::constructed, figuresOf(heap, "constructed", 200).objects);
    EXPECT_EQ(Constructed::destroyed, 0U);
    auto* const object = static_cast<Constructed*>(heap.take(*cache));
    object->uses = 4711;
    heap.put(*cache, object);
    EXPECT_EQ(static_cast<Constructed*>(heap.take(*cache))->uses, 4711U);
}

} // namespace
} // namespace heapwright::testing

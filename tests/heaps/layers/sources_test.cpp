// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The suite on the sources that are not the plain system, on fallback, and on bounded memory.
#include <heapwright/allocators/lea.hpp>

#include "stack_suite.hpp"

namespace heapwright::testing {
namespace {

using Buffer = StaticBufferHeap<6 * MiB>; // more than any history asks for
using Huge = HugePageHeap<platform::AdvisedHugePages>;
using Reserved = HugePageHeap<platform::ReservedHugePages>;

using Sources =
    Stacks<Uncounted<Buffer>, Uncounted<CoalesceHeap<16 * KiB, CoalesceableHeap<Buffer>>>,
           Uncounted<CheckedHeap<Buffer>>, Uncounted<GuardPageHeap<1 * MiB>>,
           Uncounted<SizeHeap<GuardPageHeap<1 * MiB>>>,
           Uncounted<SizeHeap<ChunkHeap<2 * MiB, 8, Huge>>>,
           Uncounted<CoalesceHeap<2 * MiB, CoalesceableHeap<Reserved>>>>;
INSTANTIATE_TEST_SUITE_P(Sources, LayerStack, ::testing::ValuesIn(Sources::tables()));

using Shared = SharedMemoryHeap<16 * MiB>;
using Filed = MappedFileHeap<ScratchFile<16 * MiB>>;

using Rooms =
    Stacks<Uncounted<Shared>, Uncounted<CoalesceHeap<16 * KiB, CoalesceableHeap<Shared>>>,
           Uncounted<LockedHeap<SharedFutexLock, SizeHeap<ChunkHeap<64 * KiB, 8, Shared>>>>,
           Uncounted<Filed>,
           Uncounted<CheckedHeap<CoalesceHeap<16 * KiB, CoalesceableHeap<Filed>>>>,
           Uncounted<TryHeap<Shared, MmapHeap>>>;
INSTANTIATE_TEST_SUITE_P(Rooms, LayerStack, ::testing::ValuesIn(Rooms::tables()));

// Over a counting source the first heap is so small that an object of 48 bytes is below.
using Fallbacks = Stacks<Stack<TryHeap<StaticBufferHeap<64>, Tagged>>,
                         Stack<TryHeap<LockedHeap<FutexLock, StaticBufferHeap<64>>, Quick>>,
                         Stack<CheckedHeap<TryHeap<StaticBufferHeap<64>, Rising>>>,
                         Uncounted<TryHeap<StaticBufferHeap<16 * KiB>, SizeHeap<MallocHeap>>>,
                         Uncounted<TryHeap<StaticBufferHeap<16 * KiB>, MmapHeap>>>;
INSTANTIATE_TEST_SUITE_P(Fallbacks, LayerStack, ::testing::ValuesIn(Fallbacks::tables()));

using Bounds =
    Stacks<Stack<BoundedHeap<16 * MiB, Tagged>>, Stack<CheckedHeap<BoundedHeap<16 * MiB, Rising>>>,
           Stack<BoundedHeap<16 * MiB, CheckedHeap<Rising>>>,
           Uncounted<BoundedHeap<16 * MiB, MmapHeap>>>;
INSTANTIATE_TEST_SUITE_P(Bounds, LayerStack, ::testing::ValuesIn(Bounds::tables()));

// Bounded memory in a whole allocator.
using BoundedLea = ANSIWrapper<
    SignalSafeHeap<LockedHeap<FutexLock, BoundedHeap<4 * MiB, allocators::lea::Checked>>>>;

TEST(BoundedLea, IsAWholeAllocatorThatEndsAtItsBound) {
    static_assert(ForkableHeap<BoundedLea> && TrimmableHeap<BoundedLea>);
    BoundedLea heap;
    runHistory(heap, 1);
    std::vector<void*> objects;
    while (void* const object = heap.malloc(100'000)) {
        objects.push_back(object);
    }
    EXPECT_EQ(objects.size(), 41U) << "of 100,000 bytes and a little, what 4 MiB hold";
    EXPECT_EQ(heap.calloc(10, 100'000), nullptr);
    EXPECT_EQ(heap.realloc(objects[0], 300'000), nullptr);
    EXPECT_EQ(heap.memalign(4096, 200'000), nullptr);
    for (void* const object : objects) {
        heap.free(object);
    }
    void* object = heap.calloc(10, 300'000); // mapped, and moved page by page as it grows
    ASSERT_NE(object, nullptr);
    object = heap.realloc(object, 4'000'000);
    EXPECT_NE(object, nullptr) << "both did not have to fit at once";
    EXPECT_EQ(heap.realloc(object, 5'000'000), nullptr);
    heap.free(object);
    EXPECT_DEATH(heap.free(object), "");
    heap.trim(0);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_LT(usage.mapped, 8 * MiB);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The suite on the layers that keep freed objects. They are tested alone, over heaps that split and
// merge, in the middle of a stack, and as the list of each class. They are also tested on bitmap
// slabs.
#include "stack_suite.hpp"

namespace heapwright::testing {
namespace {

using ManySizes = Stacks<
    Stack<AdaptHeap<BestFitTree, CountingHeap>>, Stack<AdaptHeap<BestFitTree, Tagged>>,
    Stack<AdaptHeap<BestFitTree, Blocks>>, Stack<AdaptHeap<LifoList, CountingHeap>>,
    Stack<AdaptHeap<FifoList, SizeHeap<ChunkHeap<4 * KiB, 8, CountingHeap>>>>,
    Stack<DLList<CountingHeap>>, Stack<DLList<Blocks>>, Stack<BoundedFreelistHeap<8, CountingHeap>>,
    Stack<BoundedFreelistHeap<1, Blocks>>, Stack<RandomFreelistHeap<16, CountingHeap>>,
    Stack<RandomFreelistHeap<2, Quick>>, Stack<QuarantineHeap<10'000, CountingHeap>>,
    Stack<QuarantineHeap<100, Powers>>, Stack<QuarantineHeap<64 * KiB, CheckedHeap<Rising>>>,
    Stack<CheckedHeap<QuarantineHeap<4 * KiB, Quick>>>,
    Stack<AlignHeap<CheckedHeap<QuarantineHeap<4 * KiB, Powers>>>>,
    Uncounted<QuarantineHeap<64 * KiB, MallocHeap>>,
    Uncounted<LockedHeap<FutexLock, RandomFreelistHeap<4, SizeHeap<MmapHeap>>>>,
    Uncounted<AdaptHeap<BestFitTree, MmapHeap>>, Uncounted<BoundedFreelistHeap<4, MallocHeap>>>;
INSTANTIATE_TEST_SUITE_P(ManySizes, LayerStack, ::testing::ValuesIn(ManySizes::tables()));

using OneOfManySizes =
    Stacks<OneSize<AdaptHeap<LifoList, CountingHeapAt<8>>>, OneSize<DLList<CountingHeapAt<8>>>,
           OneSize<DLList<FreelistHeap<CountingHeap>>>,
           OneSize<BoundedFreelistHeap<8, ChunkHeap<4 * KiB, 8, CountingHeap>>>,
           OneSize<RandomFreelistHeap<32, ChunkHeap<4 * KiB, 8, CountingHeap>>>,
           OneSize<AdaptHeap<FifoList, ZeroingCountingHeap>>>;
INSTANTIATE_TEST_SUITE_P(OneOfManySizes, LayerStack, ::testing::ValuesIn(OneOfManySizes::tables()));

/// Strict segregated fits over the list of each class.
template <class List>
using Lists = StrictSegHeap<PowerOfTwo<10>, List, Tagged>;
template <class List>
using TightLists =
    StrictSegHeap<PowerOfTwo<10>, List, SizeHeap<ChunkHeap<16 * KiB, 8, CountingHeap>>>;

using PerClass =
    Stacks<Stack<Lists<AdaptHeap<LifoList, NullHeap>>>, Stack<Lists<AdaptHeap<FifoList, NullHeap>>>,
           Stack<Lists<DLList<NullHeap>>>, Stack<Lists<RandomFreelistHeap<8, NullHeap>>>,
           Stack<Lists<BoundedFreelistHeap<2, NullHeap>>>,
           Stack<SegHeap<PowerOfTwo<10>, BoundedFreelistHeap<1, NullHeap>, Tagged>>,
           Stack<CheckedHeap<StrictSegHeap<Exact<4>, BoundedFreelistHeap<3, NullHeap>, Blocks>>>,
           Stack<TightLists<DLList<NullHeap>>>, Stack<TightLists<AdaptHeap<FifoList, NullHeap>>>,
           Stack<CheckedHeap<TightLists<RandomFreelistHeap<8, NullHeap>>>>,
           Stack<StrictSegHeap<Exact<4>, DLList<NullHeap>, Blocks>>>;
INSTANTIATE_TEST_SUITE_P(PerClass, LayerStack, ::testing::ValuesIn(PerClass::tables()));

using SlabStacks =
    Stacks<Stack<BitmapSlabHeap<4000, 16 * KiB, CountingHeap>>,
           Stack<BitmapSlabHeap<48, 4 * KiB, CountingHeap>, true, 1, 48>,
           Stack<BitmapSlabHeap<48, 1 * KiB, CountingHeapAt<8>>, true, 1, 48>,
           Stack<BitmapSlabHeap<1000, 4 * KiB, Tagged>, true, 1, 1000>,
           Stack<BitmapSlabHeap<100, 4 * KiB, AlignHeap<Quick>>, true, 1, 100>,
           Stack<QuarantineHeap<1 * KiB, BitmapSlabHeap<100, 4 * KiB, CountingHeap>>, true, 1, 100>,
           Stack<SizeHeap<BitmapSlabHeap<128, 4 * KiB, CountingHeap>>, true, 1, 100>,
           Stack<TryHeap<BitmapSlabHeap<64, 4 * KiB, CountingHeap>, CountingHeap>>,
           Uncounted<BitmapSlabHeap<4000, 16 * KiB, MmapHeap>>,
           Uncounted<BitmapSlabHeap<4000, 64 * KiB, MallocHeap>>>;
INSTANTIATE_TEST_SUITE_P(SlabStacks, LayerStack, ::testing::ValuesIn(SlabStacks::tables()));

} // namespace
} // namespace heapwright::testing

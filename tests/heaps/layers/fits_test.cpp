// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The suite on the heaps that differ in the free block that they serve. They are sequential fits,
// buddies and segregated fits, alone and under the usual layers.
#include "stack_suite.hpp"

namespace heapwright::testing {
namespace {

template <class Fit, class Source>
using FitHeap = SequentialFitHeap<Fit, 4 * KiB, CoalesceableHeap<Source>>;

using Exactly = ExactFit<127, BestFit>;
using BestBlocks = FitHeap<Exactly, ContiguousCountingHeap>;
using Buddies = BuddyHeap<5, 14, CountingHeap>;

using Sequential =
    Stacks<Stack<FitHeap<FirstFit, CountingHeap>>, Stack<FitHeap<NextFit, CountingHeap>>,
           Stack<FitHeap<BestFit, CountingHeap>>, Stack<FitHeap<SizeTree, CountingHeap>>,
           Stack<FitHeap<Exactly, CountingHeap>>, Stack<FitHeap<FirstFit, ContiguousCountingHeap>>,
           Stack<FitHeap<NextFit, ContiguousCountingHeap>>,
           Stack<FitHeap<BestFit, ZeroingCountingHeap>>, Stack<BestBlocks>,
           Uncounted<FitHeap<SizeTree, MmapHeap>>, Uncounted<FitHeap<NextFit, SbrkHeap>>,
           Stack<StrictSegHeap<Exact<127>, Nothing, BestBlocks>>, Stack<CheckedHeap<BestBlocks>>,
           Stack<ANSIWrapper<FitHeap<NextFit, CountingHeap>>>>;
INSTANTIATE_TEST_SUITE_P(Sequential, LayerStack, ::testing::ValuesIn(Sequential::tables()));

using Buddy =
    Stacks<Stack<Buddies>, Stack<BuddyHeap<4, 8, CountingHeap>>, Stack<BuddyHeap<5, 13, Blocks>>,
           Stack<SizeHeap<Buddies>>, Stack<StrictSegHeap<PowerOfTwo<8>, Nothing, Buddies>>,
           Stack<CoalesceHeap<4 * KiB, CoalesceableHeap<Buddies>>>,
           Uncounted<BuddyHeap<6, 18, MmapHeap>>, Stack<ANSIWrapper<Buddies>>>;
INSTANTIATE_TEST_SUITE_P(Buddy, LayerStack, ::testing::ValuesIn(Buddy::tables()));

using Segregated =
    Stacks<Stack<SegHeap<PowerOfTwo<10>, Nothing, Tagged>>,
           Stack<SegHeap<Exact<60>, Nothing, Blocks>>,
           Stack<SegHeap<PowerOfTwo<12>, Nothing, RunBlocks>>,
           Stack<SegHeap<PowerOfTwo<8>, Nothing, SizeHeap<ZeroingCountingHeap>>>,
           Stack<SegHeap<PowerOfTwo<10>, Nothing, Buddies>>,
           Stack<SegHeap<PowerOfTwo<12>, Nothing, SegHeap<Exact<4>, Nothing, Blocks>>>,
           Uncounted<SegHeap<PowerOfTwo<12>, Nothing, MmapHeap>>,
           Stack<CheckedHeap<SegHeap<Exact<60>, Nothing, Blocks>>>,
           Stack<ANSIWrapper<AlignHeap<SegHeap<PowerOfTwo<10>, Nothing, Tagged>>>>>;
INSTANTIATE_TEST_SUITE_P(Segregated, LayerStack, ::testing::ValuesIn(Segregated::tables()));

} // namespace
} // namespace heapwright::testing

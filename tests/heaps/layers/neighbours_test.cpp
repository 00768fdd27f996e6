// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The suite on layers that belong together, over counting sources and over the system.
#include "stack_suite.hpp"

namespace heapwright::testing {
namespace {

using Neighbours =
    Stacks<Stack<SizeHeap<ChunkHeap<4 * KiB, 8, CountingHeap>>>, Uncounted<SizeHeap<MmapHeap>>,
           Stack<Blocks>, Stack<RunBlocks>,
           Uncounted<CoalesceHeap<16 * KiB, CoalesceableHeap<MmapHeap>>>,
           Uncounted<CoalesceHeap<16 * KiB, CoalesceableHeap<SbrkHeap>>>, Stack<Powers>,
           Stack<StrictSegHeap<PowerOfTwo<8>, Nothing, SizeHeap<ZeroingCountingHeap>>>,
           Stack<Quick>, Stack<RunQuick>, Stack<StrictSegHeap<PowerOfTwo<12>, Nothing, Blocks>>,
           Stack<CheckedHeap<Powers>>, Stack<CheckedHeap<RunQuick>>, Stack<AlignHeap<Powers>>>;
INSTANTIATE_TEST_SUITE_P(Neighbours, LayerStack, ::testing::ValuesIn(Neighbours::tables()));

} // namespace
} // namespace heapwright::testing

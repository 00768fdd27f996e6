// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The suite on the layers that observe, alone and in the stacks in which they are used.
#include "stack_suite.hpp"

namespace heapwright::testing {
namespace {

using Checks =
    ::testing::Types<Stack<DebugHeap<CountingHeap>>, Stack<DebugHeap<ZeroingCountingHeap>>,
                     Stack<DebugHeap<ChunkHeap<4 * KiB, 8, CountingHeap>>>,
                     OneSize<DebugHeap<FreelistHeap<CountingHeap>>>,
                     Stack<DebugHeap<AlignHeap<CheckedHeap<Powers>>>>, Stack<DebugHeap<Quick>>,
                     Stack<DebugHeap<Mapped>>, Uncounted<DebugHeap<MmapHeap>>,
                     Stack<CanaryHeap<CountingHeap>>, Stack<CanaryHeap<ZeroingCountingHeap>>,
                     Stack<CanaryHeap<ChunkHeap<4 * KiB, 8, CountingHeap>>>,
                     Stack<CanaryHeap<AlignHeap<CheckedHeap<Powers>>>>, Stack<CanaryHeap<Quick>>,
                     Stack<CanaryHeap<Rising>>, Uncounted<CanaryHeap<MmapHeap>>,
                     Stack<ANSIWrapper<DebugHeap<CanaryHeap<AlignHeap<Powers>>>>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Checks, LayerStack, Checks);

using Figures = ::testing::Types<
    Stack<StatisticsHeap<CountingHeap>>, Stack<StatisticsHeap<Quick>>,
    Stack<StatisticsHeap<Mapped>>, Stack<AlignHeap<StatisticsHeap<CheckedHeap<Powers>>>>,
    Uncounted<StatisticsHeap<SbrkHeap>>, OneSize<StatisticsHeap<FreelistHeap<CountingHeap>>>,
    Stack<ProfileHeap<CountingHeap>>, Stack<ProfileHeap<ChunkHeap<4 * KiB, 8, CountingHeap>>>,
    Stack<ProfileHeap<Mapped>>, Stack<CheckedHeap<ProfileHeap<Powers>>>,
    Uncounted<ProfileHeap<MmapHeap>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Figures, LayerStack, Figures);

} // namespace
} // namespace heapwright::testing

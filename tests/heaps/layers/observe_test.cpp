// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The suite on the layers that observe, alone and in the stacks in which they are used.
#include "stack_suite.hpp"

namespace heapwright::testing {
namespace {

/// A trace that is written and never read.
struct Nowhere {
    static constexpr bool perProcess = true;
    static int open() noexcept { return platform::createFile("/dev/null"); }
};

using Checks = Stacks<Stack<DebugHeap<CountingHeap>>, Stack<DebugHeap<ZeroingCountingHeap>>,
                      Stack<DebugHeap<ChunkHeap<4 * KiB, 8, CountingHeap>>>,
                      OneSize<DebugHeap<FreelistHeap<CountingHeap>>>,
                      Stack<DebugHeap<AlignHeap<CheckedHeap<Powers>>>>, Stack<DebugHeap<Quick>>,
                      Stack<DebugHeap<Mapped>>, Uncounted<DebugHeap<MmapHeap>>,
                      Stack<CanaryHeap<CountingHeap>>, Stack<CanaryHeap<ZeroingCountingHeap>>,
                      Stack<CanaryHeap<ChunkHeap<4 * KiB, 8, CountingHeap>>>,
                      Stack<CanaryHeap<AlignHeap<CheckedHeap<Powers>>>>, Stack<CanaryHeap<Quick>>,
                      Stack<CanaryHeap<Rising>>, Uncounted<CanaryHeap<MmapHeap>>,
                      Stack<ANSIWrapper<DebugHeap<CanaryHeap<AlignHeap<Powers>>>>>>;
INSTANTIATE_TEST_SUITE_P(Checks, LayerStack, ::testing::ValuesIn(Checks::tables()));

using Figures =
    Stacks<Stack<StatisticsHeap<CountingHeap>>, Stack<StatisticsHeap<Quick>>,
           Stack<StatisticsHeap<Mapped>>, Stack<AlignHeap<StatisticsHeap<CheckedHeap<Powers>>>>,
           Uncounted<StatisticsHeap<SbrkHeap>>, OneSize<StatisticsHeap<FreelistHeap<CountingHeap>>>,
           Stack<ProfileHeap<CountingHeap>>,
           Stack<ProfileHeap<ChunkHeap<4 * KiB, 8, CountingHeap>>>, Stack<ProfileHeap<Mapped>>,
           Stack<CheckedHeap<ProfileHeap<Powers>>>, Uncounted<ProfileHeap<MmapHeap>>,
           Stack<TraceHeap<RingTrace<16>, CountingHeap>>, Stack<TraceHeap<RingTrace<16>, Mapped>>,
           Stack<AlignHeap<TraceHeap<RingTrace<16>, CheckedHeap<Powers>>>>,
           Stack<TraceHeap<DescriptorTrace<Nowhere, 1 * KiB>, Quick>>,
           OneSize<TraceHeap<RingTrace<16>, FreelistHeap<CountingHeap>>>,
           Uncounted<TraceHeap<RingTrace<16>, MmapHeap>>>;
INSTANTIATE_TEST_SUITE_P(Figures, LayerStack, ::testing::ValuesIn(Figures::tables()));

} // namespace
} // namespace heapwright::testing

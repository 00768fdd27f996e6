// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Stacks of superblocks, alone and in Hoard.
#include "stack_suite.hpp"

namespace heapwright::testing {
namespace {

using Slots = GeometricSlots<6, 5, 16, 4 * KiB>;
using Counted = AlignedBlockHeap<8 * KiB, 1 * MiB, CountingHeap>;
using Mapped = AlignedBlockHeap<8 * KiB, 1 * MiB, MmapHeap>;
using OfThree = ByThread<3>;
using Rule = Verified<Emptiness<1, 4, 4>>;

/// A heap for every size, over one that has none above 4 KiB.
template <class Small>
using AnySize = SplitHeap<4 * KiB, Small, MmapHeap>;

using SuperblockStacks = Stacks<
    Stack<AlignedBlockHeap<4 * KiB, 1 * MiB, CountingHeap>>,
    Uncounted<AlignedBlockHeap<8 * KiB, 2 * MiB, MmapHeap>>,
    Uncounted<AnySize<SuperblockHeap<Slots, Mapped>>>,
    Uncounted<LockedHeap<FutexLock, AnySize<SuperblockHeap<Slots, Counted>>>>,
    Uncounted<SplitHeap<300, SuperblockHeap<Slots, Counted>, CheckedHeap<MmapHeap>>>,
    Uncounted<AnySize<HoardHeap<Slots, OfThree, Rule, AnyLines, Mapped>>>,
    Uncounted<AnySize<HoardHeap<Slots, OwnHeap<8>, Rule, CleanLines, Mapped>>>,
    Uncounted<AnySize<HoardHeap<Slots, PerProcessor<64>, Never, AnyLines, Counted>>>,
    Uncounted<StatisticsHeap<AnySize<HoardHeap<Slots, OfThree, Rule, CleanLines, Counted>>>>>;
INSTANTIATE_TEST_SUITE_P(Superblocks, LayerStack, ::testing::ValuesIn(SuperblockStacks::tables()));

} // namespace
} // namespace heapwright::testing

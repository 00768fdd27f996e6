// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The suite on caches of freed objects for threads.
#include "stack_suite.hpp"

namespace heapwright::testing {
namespace {

/// A counting source for the tests in which one thread runs.
class LonelyBlocks : public Blocks {
public:
    static constexpr bool concurrent = true;
};

using LockedPowers = LockedHeap<FutexLock, Powers>;
using LockedQuick = LockedHeap<FutexLock, CheckedHeap<Quick>>;
using LockedMapped = LockedHeap<FutexLock, CheckedHeap<Mapped>>;
using LockedPages = LockedHeap<FutexLock, MmapHeap>;

template <std::size_t Batch, class Below>
using Few = ThreadCacheHeap<Exact<9>, 1 * KiB, Batches<Batch>, 16, Below>;
template <std::size_t Batch, class Below>
using Many = ThreadCacheHeap<AtLeast<24, PerDoubling<2, 16>>, 64 * KiB, Batches<Batch>, 16, Below>;

/// As `Many`, with slow fetches and with objects of the own arena only.
using Arena =
    LockedHeap<FutexLock,
               CheckedHeap<CoalesceHeap<4 * KiB, CoalesceableHeap<ReserveHeap<4 * MiB>>>>>;
using Arenas = ArenaHeap<ByThread<4>, Arena>;
template <class Overflow, class Below>
using Kept = ThreadCacheHeap<Exact<9>, 64 * KiB, Overflow, 16, Below>;

template <std::size_t Target, class Below>
using Batched = BatchCacheHeap<PerDoubling<2, 16>, Target, 4, 16, Below>;

using Caches =
    Stacks<Stack<Few<1, LonelyBlocks>>, Stack<Few<8, LockedQuick>>, Stack<Few<3, LockedPowers>>,
           Stack<Many<1, LockedQuick>>, Stack<Many<32, LonelyBlocks>>,
           Stack<Many<32, LockedPowers>>, Uncounted<Many<16, LockedMapped>>,
           Uncounted<Few<4, LockedPages>>, Stack<SizeHeap<Few<8, LockedQuick>>>,
           Stack<AlignHeap<SizeHeap<Many<8, LockedPowers>>>>, Stack<Few<2, Many<8, LockedQuick>>>,
           Stack<ThreadCacheHeap<Exact<9>, 200, Batches<8>, 1, LockedQuick>>,
           Stack<Kept<SlowStart<64, 16>, LockedQuick>>,
           Uncounted<Kept<OwnArena<64, SlowStart<1, 8>>, Arenas>>, Stack<Batched<2, LockedQuick>>,
           Stack<Batched<32, LockedPowers>>, Uncounted<Batched<8, LockedMapped>>,
           Stack<Few<8, Batched<4, LockedQuick>>>,
           Stack<BatchCacheHeap<Exact<9>, 4, 1, 1, LockedQuick>>>;
INSTANTIATE_TEST_SUITE_P(Caches, LayerStack, ::testing::ValuesIn(Caches::tables()));

} // namespace
} // namespace heapwright::testing

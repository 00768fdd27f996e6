// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The suite on heaps with ownership by address, on what they are made of, and on single heaps that
// have more than one lock.
#include <heapwright/allocators/concurrent.hpp>
#include <heapwright/allocators/mtmalloc.hpp>
#include <heapwright/allocators/private.hpp>
#include <heapwright/allocators/ptmalloc2.hpp>
#include <heapwright/allocators/ptmalloc3.hpp>
#include <heapwright/allocators/serial.hpp>

#include "stack_suite.hpp"

namespace heapwright::testing {
namespace {

// Fits.
using Objects = CoalesceableHeap<CountingHeap>;
using RunObjects = CoalesceableHeap<ContiguousCountingHeap>;
using Tries = ExactFit<14, SizeTries>;

// Arenas.
using Blocks4 = CoalesceHeap<4 * KiB, CoalesceableHeap<ReserveHeap<4 * MiB>>>;
using Arena = LockedHeap<FutexLock, CheckedHeap<Blocks4>>;
using Lists4 = StrictSegHeap<PowerOfTwo<10>, Nothing, SizeHeap<ChunkHeap<64 * KiB, 8, Blocks4>>>;
using Listed = LockedHeap<FutexLock, CheckedHeap<Lists4>>;

// Lists with a lock each over a source with a lock.
using LockedNothing = LockedHeap<FutexLock, Nothing>;
using LockedTagged = SizeHeap<LockedHeap<FutexLock, CountingHeap>>;
using LockedPowers = StrictSegHeap<PowerOfTwo<10>, LockedNothing, LockedTagged>;
using LockedQuick = StrictSegHeap<Exact<4>, LockedNothing, LockedHeap<FutexLock, Blocks>>;

// Private lists whose chunks stay with a heap that outlives them.
template <class Name>
using Bumping = SizeHeap<BumpHeap<4 * KiB, 8, UniqueHeap<Name, MmapHeap>>>;
template <class Name>
using Private = LockedHeap<FutexLock, StrictSegHeap<PowerOfTwo<10>, Nothing, Bumping<Name>>>;

using MappedArenas =
    SelectMmapHeap<FixedLimit<2000>, CheckedHeap<MmapHeap>, ArenaHeap<ByThread<3>, Arena>>;
using MappedLists = AlignHeap<
    SelectMmapHeap<FixedLimit<2000>, CheckedHeap<MmapHeap>, ArenaHeap<RoundRobin<3>, Listed>>>;

using Arenas =
    Stacks<Stack<SequentialFitHeap<Tries, 4 * KiB, Objects>>,
           Stack<SequentialFitHeap<Tries, 4 * KiB, RunObjects>>,
           Stack<SequentialFitHeap<UnsortedBins, 4 * KiB, Objects>>,
           Stack<SequentialFitHeap<UnsortedBins, 4 * KiB, RunObjects>>, Stack<LockedPowers>,
           Stack<AlignHeap<CheckedHeap<LockedPowers>>>, Stack<LockedQuick>, Uncounted<Blocks4>,
           Uncounted<ArenaHeap<ByThread<2>, Arena>>, Uncounted<ArenaHeap<RoundRobin<5>, Arena>>,
           Uncounted<ArenaHeap<FirstFree<3>, Arena>>, Uncounted<ArenaHeap<RoundRobin<3>, Listed>>,
           Uncounted<MappedArenas>, Uncounted<MappedLists>,
           Uncounted<ThreadHeap<4, Private<struct ArenaSuitePrivate>>>,
           Uncounted<Bumping<struct ArenaSuiteBumping>>>;
INSTANTIATE_TEST_SUITE_P(Arenas, LayerStack, ::testing::ValuesIn(Arenas::tables()));

using Taxonomy = Stacks<Uncounted<allocators::Serial>, Uncounted<allocators::Concurrent>,
                        Uncounted<allocators::PurePrivate>, Uncounted<allocators::Ptmalloc2>,
                        Uncounted<allocators::Ptmalloc3>, Uncounted<allocators::Mtmalloc>>;
INSTANTIATE_TEST_SUITE_P(Taxonomy, LayerStack, ::testing::ValuesIn(Taxonomy::tables()));

TEST(ConcurrentSingleHeaps, AreConcurrentWhereAllTheirPartsAre) {
    EXPECT_TRUE(ConcurrentHeap<LockedPowers> && ForkableHeap<LockedPowers>);
    EXPECT_TRUE(ConcurrentHeap<AlignHeap<CheckedHeap<LockedPowers>>>);
    EXPECT_TRUE(ForkableHeap<AlignHeap<CheckedHeap<LockedPowers>>>);
    EXPECT_FALSE(ConcurrentHeap<Powers> || ForkableHeap<Powers>);
    EXPECT_FALSE((ConcurrentHeap<StrictSegHeap<PowerOfTwo<10>, LockedNothing, Tagged>>));
    EXPECT_FALSE((ConcurrentHeap<StrictSegHeap<PowerOfTwo<10>, Nothing, LockedTagged>>));
    EXPECT_TRUE(ConcurrentHeap<MappedArenas> && ForkableHeap<MappedArenas>);
    EXPECT_FALSE(ConcurrentHeap<Mapped> || ForkableHeap<Mapped>);
}

} // namespace
} // namespace heapwright::testing

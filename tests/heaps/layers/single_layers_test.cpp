// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The suite on each source, and on each layer that can stand alone over a counting source.
#include "stack_suite.hpp"

namespace heapwright::testing {
namespace {

using Single =
    Stacks<Uncounted<MallocHeap>, Uncounted<MmapHeap>, Uncounted<SbrkHeap>,
           Stack<ChunkHeap<4 * KiB, 0, CountingHeap>>, Stack<ChunkHeap<64 * KiB, 8, CountingHeap>>,
           Stack<ChunkHeap<4 * KiB, 0, ZeroingCountingHeap>>, Stack<Tagged>,
           Stack<SizeHeap<ZeroingCountingHeap>>, Stack<SizeHeap<CountingHeapAt<8>>>,
           Stack<CoalesceableHeap<CountingHeap>>, OneSize<FreelistHeap<CountingHeap>>,
           Stack<LockedHeap<FutexLock, CountingHeap>>, Stack<SignalSafeHeap<CountingHeap>>>;
INSTANTIATE_TEST_SUITE_P(Single, LayerStack, ::testing::ValuesIn(Single::tables()));

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The suite on the sources that are not the plain system, on fallback, and on bounded memory.
#include "stack_suite.hpp"

namespace heapwright::testing {
namespace {

using Buffer = StaticBufferHeap<6 * MiB>; // more than any history asks for
using Huge = HugePageHeap<platform::AdvisedHugePages>;
using Reserved = HugePageHeap<platform::ReservedHugePages>;

using Sources =
    ::testing::Types<Uncounted<Buffer>, Uncounted<CoalesceHeap<16 * KiB, CoalesceableHeap<Buffer>>>,
                     Uncounted<CheckedHeap<Buffer>>, Uncounted<GuardPageHeap<1 * MiB>>,
                     Uncounted<SizeHeap<GuardPageHeap<1 * MiB>>>,
                     Uncounted<SizeHeap<ChunkHeap<2 * MiB, 8, Huge>>>,
                     Uncounted<CoalesceHeap<2 * MiB, CoalesceableHeap<Reserved>>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Sources, LayerStack, Sources);

using Shared = SharedMemoryHeap<16 * MiB>;
using Filed = MappedFileHeap<ScratchFile<16 * MiB>>;

using Rooms = ::testing::Types<
    Uncounted<Shared>, Uncounted<CoalesceHeap<16 * KiB, CoalesceableHeap<Shared>>>,
    Uncounted<LockedHeap<SharedFutexLock, SizeHeap<ChunkHeap<64 * KiB, 8, Shared>>>>,
    Uncounted<Filed>, Uncounted<CheckedHeap<CoalesceHeap<16 * KiB, CoalesceableHeap<Filed>>>>,
    Uncounted<TryHeap<Shared, MmapHeap>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Rooms, LayerStack, Rooms);

// Over a counting source the first heap is so small that an object of 48 bytes is below.
using Fallbacks =
    ::testing::Types<Stack<TryHeap<StaticBufferHeap<64>, Tagged>>,
                     Stack<TryHeap<LockedHeap<FutexLock, StaticBufferHeap<64>>, Quick>>,
                     Stack<CheckedHeap<TryHeap<StaticBufferHeap<64>, Rising>>>,
                     Uncounted<TryHeap<StaticBufferHeap<16 * KiB>, SizeHeap<MallocHeap>>>,
                     Uncounted<TryHeap<StaticBufferHeap<16 * KiB>, MmapHeap>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Fallbacks, LayerStack, Fallbacks);

using Bounds = ::testing::Types<
    Stack<BoundedHeap<16 * MiB, Tagged>>, Stack<CheckedHeap<BoundedHeap<16 * MiB, Rising>>>,
    Stack<BoundedHeap<16 * MiB, CheckedHeap<Rising>>>, Uncounted<BoundedHeap<16 * MiB, MmapHeap>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Bounds, LayerStack, Bounds);

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The suite on the layers that route and guard, with all that is under them.
#include "stack_suite.hpp"

namespace heapwright::testing {
namespace {

using Routers = Stacks<Stack<AlignHeap<CheckedHeap<Powers>>>, Stack<AlignHeap<CheckedHeap<Quick>>>,
                       Stack<ThresholdHeap<512, Quick>>, Stack<Mapped>, Stack<Rising>,
                       Stack<CheckedHeap<Rising>>, Stack<HybridHeap<500, Powers, Tagged>>,
                       Stack<HybridHeap<100, StrictSegHeap<Exact<8>, Nothing, Blocks>, Blocks>>,
                       Stack<LockedHeap<FutexLock, Mapped>>,
                       Stack<SignalSafeHeap<LockedHeap<FutexLock, Mapped>>>>;
INSTANTIATE_TEST_SUITE_P(Routers, LayerStack, ::testing::ValuesIn(Routers::tables()));

} // namespace
} // namespace heapwright::testing

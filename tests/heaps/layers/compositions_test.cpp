// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The suite on the C rules and on whole compositions.
#include <heapwright/allocators/kingsley.hpp>
#include <heapwright/allocators/kingsley_coalescing.hpp>
#include <heapwright/allocators/lea.hpp>
#include <heapwright/allocators/nested_reap.hpp>
#include <heapwright/allocators/reap.hpp>
#include <heapwright/allocators/reap_hoard.hpp>
#include <heapwright/allocators/user_heap.hpp>
#include <heapwright/allocators/vmalloc.hpp>
#include <heapwright/allocators/winxp.hpp>

#include "stack_suite.hpp"

namespace heapwright::testing {
namespace {

using Compositions =
    Stacks<Stack<ANSIWrapper<AlignHeap<Tagged>>>, Stack<ANSIWrapper<CheckedHeap<Rising>>>,
           Uncounted<allocators::Kingsley>, Uncounted<allocators::KingsleyCoalescing>,
           Uncounted<allocators::Lea>, Uncounted<allocators::lea::Checked>,
           Uncounted<allocators::kingsley_coalescing::Checked>,
           Uncounted<allocators::kingsley::Checked>, Uncounted<allocators::WinXp>,
           Uncounted<allocators::winxp::Checked>, Uncounted<allocators::Vmalloc>,
           Uncounted<allocators::vmalloc::Checked>, Uncounted<allocators::Reap>,
           Uncounted<allocators::reap::Checked>, Stack<allocators::NestedReap<CountingHeap>>,
           Stack<allocators::SharedReap<CountingHeap>>, Uncounted<allocators::ReapHoard>,
           Uncounted<allocators::UserHeap<SystemExtents>>>;
INSTANTIATE_TEST_SUITE_P(Compositions, LayerStack, ::testing::ValuesIn(Compositions::tables()));

} // namespace
} // namespace heapwright::testing

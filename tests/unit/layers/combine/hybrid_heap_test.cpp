// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/combine/hybrid_heap.hpp>
#include <heapwright/layers/combine/strict_seg_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/null_heap.hpp>
#include <heapwright/sizeclass/power_of_two.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

using Large = SizeHeap<CountingHeapAt<8>>;
using Lists = StrictSegHeap<PowerOfTwo<8>, FreelistHeap<NullHeap>, SizeHeap<CountingHeapAt<8>>>;

TEST(HybridHeap, SendsEachObjectBackToWhereItCameFrom) {
    Ledger::begin();
    HybridHeap<120, Lists, Large> heap;
    void* const small = heap.malloc(100);
    void* const large = heap.malloc(121);
    heap.free(large);
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    heap.free(small); // onto its list
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    EXPECT_EQ(heap.malloc(70), small);
    heap.free(small);
}

TEST(HybridHeap, RoutesObjectsThatTheSmallHeapRoundsBeyondTheLimit) {
    Ledger::begin();
    HybridHeap<130, Lists, Large> heap; // classes of 120 and 248: 125 would become 248
    void* const object = heap.malloc(125);
    EXPECT_GT(heap.getSize(object), 130U);
    const std::size_t live = Ledger::the().live.size();
    heap.free(object);
    EXPECT_EQ(Ledger::the().live.size(), live - 1) << "it was the large heap's";
}

} // namespace
} // namespace heapwright::testing

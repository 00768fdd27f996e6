// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/object/align_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

using Aligned = AlignHeap<SizeHeap<CountingHeap>>;

TEST(AlignHeap, DisplacesTheObjectAndFindsTheWayBack) {
    Ledger::begin();
    Aligned heap;
    for (std::size_t align = 32; align <= 64 * KiB; align *= 2) {
        void* const object = heap.memalign(align, 100);
        ASSERT_EQ(addressOf(object) % align, 0U);
        EXPECT_GE(heap.getSize(object), 100U);
        std::memset(object, 1, heap.getSize(object));
        heap.free(object);
        EXPECT_TRUE(Ledger::the().live.empty()) << align;
    }
}

TEST(AlignHeap, LeavesOrdinaryRequestsAlone) {
    Ledger::begin();
    Aligned heap;
    void* const object = heap.memalign(16, 100);
    EXPECT_EQ(Ledger::the().live.begin()->second, 128U) << "no more than malloc takes";
    EXPECT_TRUE(Tag::of(object).is(State::live));
    heap.free(object);
}

} // namespace
} // namespace heapwright::testing

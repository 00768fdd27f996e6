// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/object/object_chain.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

std::size_t lengthOf(const ObjectLink* chain) {
    std::size_t length = 0;
    for (; chain != nullptr; chain = chain->next) {
        ++length;
    }
    return length;
}

TEST(ObjectChain, HasTheRequestedNumberOfObjects) {
    Ledger::begin();
    CountingHeap heap;
    ObjectLink* const chain = mallocChain(heap, 40, 5);
    EXPECT_EQ(lengthOf(chain), 5U);
    EXPECT_EQ(Ledger::the().live.size(), 5U);
    EXPECT_EQ(heap.getSize(chain->next), 40U);
    freeChain(heap, chain);
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(ObjectChain, EndsWhereTheHeapHasNoMore) {
    Ledger::begin(3);
    CountingHeap heap;
    ObjectLink* const chain = mallocChain(heap, 8, 5);
    EXPECT_EQ(lengthOf(chain), 2U);
    freeChain(heap, chain);
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(ObjectChain, OfNothingIsNull) {
    Ledger::begin(Ledger::all);
    CountingHeap heap;
    EXPECT_EQ(mallocChain(heap, 8, 5), nullptr);
    EXPECT_EQ(mallocChain(heap, 8, 0), nullptr);
    freeChain(heap, nullptr);
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

} // namespace
} // namespace heapwright::testing

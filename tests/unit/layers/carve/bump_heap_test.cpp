// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/bump_heap.hpp>
#include <heapwright/layers/combine/unique_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace heapwright::testing {
namespace {

constexpr std::size_t chunk = 4 * KiB;

template <class Name>
using Counted = BumpHeap<chunk, 8, UniqueHeap<Name, CountingHeap>>;

TEST(BumpHeap, HandsOutPiecesOneAfterTheOther) {
    Ledger::begin();
    Counted<struct OneAfterTheOther> heap;
    void* const one = heap.malloc(24);
    void* const other = heap.malloc(40);
    EXPECT_EQ(addressOf(one) % 16, 8U);
    EXPECT_EQ(addressOf(other), addressOf(one) + 32);
    for (int i = 0; i < 100; ++i) {
        std::memset(heap.malloc(120), 1, 120);
    }
    EXPECT_EQ(Ledger::the().requests, 4U) << "16 bytes and the lead less than a chunk each";
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(BumpHeap, LeavesItsChunksToTheHeapBelow) {
    Ledger::begin();
    unsigned char* piece = nullptr;
    {
        Counted<struct Leaving> heap;
        piece = static_cast<unsigned char*>(heap.malloc(100));
    }
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    std::memset(piece, 1, 100); // outlives the caller that handed it out
    Counted<struct Leaving> other;
    other.free(piece);
}

TEST(BumpHeap, TakesLargeObjectsFromBelowAndFreesThemThere) {
    Ledger::begin();
    using Heap = Counted<struct TooLarge>;
    Heap heap;
    Heap other;
    for (const std::size_t size : {chunk - 48, chunk - 47, chunk, 10 * chunk}) {
        const std::size_t before = Ledger::the().live.size();
        void* const object = heap.malloc(size);
        ASSERT_NE(object, nullptr);
        EXPECT_EQ(addressOf(object) % 16, 8U);
        std::memset(object, 1, size);
        other.free(object, size); // any heap that returned it
        EXPECT_EQ(Ledger::the().live.size(), before + (size < chunk - 47 ? 1U : 0U)) << size;
    }
    const volatile std::size_t huge = SIZE_MAX - 4;
    EXPECT_EQ(heap.malloc(huge), nullptr);
}

TEST(BumpHeap, ServesAgainAfterTheHeapBelowReturnedNull) {
    Ledger::begin(1);
    Counted<struct NullUp> heap;
    EXPECT_EQ(heap.malloc(100), nullptr);
    EXPECT_NE(heap.malloc(100), nullptr);
    const std::size_t requests = Ledger::the().requests;
    EXPECT_NE(heap.malloc(100), nullptr);
    EXPECT_EQ(Ledger::the().requests, requests);
}

TEST(BumpHeap, AcceptsForeignFrees) {
    using Mapped = BumpHeap<64 * KiB, 8, UniqueHeap<struct Adopting, MmapHeap>>;
    EXPECT_TRUE(ForeignFreeHeap<Mapped> && ZeroingHeap<Mapped> && SizedFreeHeap<Mapped>);
    EXPECT_FALSE(ClearableHeap<Mapped>) << "what it has left is not its own any more";
    Mapped heap;
    auto* const zero = static_cast<unsigned char*>(heap.zalloc(1000));
    ASSERT_NE(zero, nullptr);
    EXPECT_EQ(zero[0] + zero[999], 0);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.mapped, 64 * KiB);
    EXPECT_GT(usage.held, 60 * KiB);
}

} // namespace
} // namespace heapwright::testing

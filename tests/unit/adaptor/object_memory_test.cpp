// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/adaptor/object_memory.hpp>
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/object/align_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace heapwright::testing {
namespace {

/// Allocates, fills and frees objects of all alignments and many sizes.
template <class H>
void takeAndGiveBack(H& heap) {
    for (std::size_t align = 1; align <= 4096; align *= 2) {
        for (const std::size_t size : {0U, 1U, 40U, 3000U, 10'000U}) {
            void* const object = takeObject(heap, size, align);
            ASSERT_NE(object, nullptr);
            EXPECT_EQ(addressOf(object) % align, 0U);
            std::memset(object, 0x77, size);
            giveObjectBack(heap, object, size, align);
        }
    }
}

TEST(ObjectMemory, ComesFromAnyGeneralHeap) {
    Ledger::begin();
    {
        CountingHeap plain;
        takeAndGiveBack(plain);
        AlignHeap<SizeHeap<CountingHeap>> aligned;
        takeAndGiveBack(aligned);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

/// A chunk heap returns a chunk only to a caller that states the size of its one object.
TEST(ObjectMemory, IsFreedWithItsRequestedSize) {
    Ledger::begin();
    ChunkHeap<4 * KiB, 0, CountingHeap> chunks;
    takeAndGiveBack(chunks);
    const std::size_t before = Ledger::the().live.size();
    void* const large = takeObject(chunks, 100'000, 16);
    void* const aligned = takeObject(chunks, 100'000, 512);
    EXPECT_EQ(Ledger::the().live.size(), before + 2);
    giveObjectBack(chunks, large, 100'000, 16);
    giveObjectBack(chunks, aligned, 100'000, 512);
    EXPECT_EQ(Ledger::the().live.size(), before);
}

TEST(ObjectMemory, IsNullWhereThereIsNone) {
    Ledger::begin(Ledger::all);
    CountingHeap heap;
    EXPECT_EQ(takeObject(heap, 10, 8), nullptr);
    EXPECT_EQ(takeObject(heap, 10, 256), nullptr);
    Ledger::begin();
    EXPECT_EQ(takeObject(heap, SIZE_MAX - 100, 256), nullptr) << "the alignment makes it overflow";
}

TEST(ObjectMemory, DoesNotComeFromAHeapOfOneSize) {
    EXPECT_TRUE(GeneralHeap<CountingHeap>);
    EXPECT_FALSE(GeneralHeap<FreelistHeap<CountingHeap>>);
    EXPECT_FALSE(GeneralHeap<CountingHeapAt<8>>);
}

} // namespace
} // namespace heapwright::testing

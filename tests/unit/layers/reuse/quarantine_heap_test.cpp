// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/reuse/quarantine_heap.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heapwright::testing {
namespace {

using Quarantine = QuarantineHeap<1000, CountingHeap>;
using Chunked = QuarantineHeap<1000, SizeHeap<ChunkHeap<4 * KiB, 8, CountingHeap>>>;

/// Has one object, and leaves what is in it alone.
template <unsigned char* Memory>
struct Reusing {
    static constexpr std::size_t alignment = 16;
    static constexpr std::string_view caption = "has one object";
    using Below = Heaps<>;
    void* malloc(std::size_t) noexcept { return Memory; }
    void free(void*) noexcept {}
    std::size_t getSize(void*) noexcept { return 64; }
    void clear() noexcept {}
};

template <class Super>
concept Quarantinable = requires { typename QuarantineHeap<1000, Super>; };
static_assert(Quarantinable<CountingHeap> && !Quarantinable<ChunkHeap<4 * KiB, 0, CountingHeap>>);

TEST(QuarantineHeap, LetsTheOldestGoWhenThereIsMoreThanItsBytes) {
    Ledger::begin();
    Quarantine heap;
    std::vector<void*> objects(12);
    for (void*& object : objects) {
        object = heap.malloc(100);
    }
    for (void* const object : objects) {
        heap.free(object);
    }
    EXPECT_EQ(Ledger::the().live.count(objects[0]), 0U);
    EXPECT_EQ(Ledger::the().live.count(objects[1]), 0U);
    EXPECT_EQ(Ledger::the().live.count(objects[2]), 1U);
    EXPECT_EQ(Ledger::the().live.size(), 10U);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.held, 1000U);
    EXPECT_EQ(usage.heldCount, 10U);
    EXPECT_EQ(usage.mapped, 1000U);
}

TEST(QuarantineHeap, PoisonsWaitingObjects) {
    Ledger::begin();
    Quarantine heap;
    auto* const object = static_cast<unsigned char*>(heap.malloc(100));
    std::memset(object, 1, 100);
    heap.free(object);
    for (std::size_t i = 24; i < 100; ++i) {
        ASSERT_EQ(object[i], Quarantine::poison) << i;
    }
    for (std::size_t i = 0; i + 8 <= 24; i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, object + i, 8);
        ASSERT_NE(word, 0x0101010101010101U) << "nothing of the object is left";
    }
    EXPECT_NE(heap.malloc(100), object);
}

TEST(QuarantineHeap, RaisesRequestsToItsBookkeeping) {
    Ledger::begin();
    Quarantine heap;
    void* const object = heap.malloc(0);
    EXPECT_EQ(heap.getSize(object), 24U);
    heap.free(object);
    QuarantineHeap<1000, MmapHeap> mapped;
    void* const large = mapped.malloc(100);
    EXPECT_TRUE(mapped.resize(large, 1));
    EXPECT_GE(mapped.getSize(large), 24U);
    mapped.free(large);
}

TEST(QuarantineHeap, LetsLargeObjectsPass) {
    Ledger::begin();
    Quarantine heap;
    void* const small = heap.malloc(100);
    heap.free(small);
    heap.free(heap.malloc(1001));
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    EXPECT_EQ(Ledger::the().live.count(small), 1U) << "and those that wait go on waiting";
}

TEST(QuarantineHeap, ReturnsWaitingObjectsWhenThereIsNoMemory) {
    Ledger::begin(3);
    Quarantine heap;
    heap.free(heap.malloc(100));
    heap.free(heap.malloc(100));
    void* const object = heap.malloc(100); // refused, then granted
    EXPECT_NE(object, nullptr);
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    Ledger::the().refuse = Ledger::all;
    EXPECT_EQ(heap.malloc(100), nullptr);
    heap.free(object);
    EXPECT_TRUE(heap.flush());
    EXPECT_FALSE(heap.flush());
}

TEST(QuarantineHeap, AcceptsFreesOfObjectsWithAnyContents) {
    Ledger::begin();
    Quarantine heap;
    for (const int fill : {0, 0xFF, 0xF5, 0x5A}) { // among them its own poison
        void* const object = heap.malloc(100);
        void* const waiting = heap.malloc(100);
        heap.free(waiting);
        std::memset(object, fill, 100);
        heap.free(object);
    }
    heap.flush();
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
    EXPECT_TRUE(Ledger::the().live.empty());
}

/// Memory that has waited comes back, and its new owner frees it without having written to it.
TEST(QuarantineHeap, AcceptsAFreeOfAReusedObjectWithAnOldSeal) {
    alignas(16) static unsigned char memory[64];
    QuarantineHeap<1000, Reusing<memory>> heap;
    for (int i = 0; i < 3; ++i) {
        heap.free(heap.malloc(64));
        heap.flush();
        heap.free(heap.malloc(64));
        heap.clear();
    }
    EXPECT_EQ(heap.malloc(64), memory);
}

TEST(QuarantineHeap, ClearDropsWaitingObjects) {
    Ledger::begin();
    Chunked heap;
    heap.free(heap.malloc(100));
    heap.clear();
    EXPECT_TRUE(Ledger::the().live.empty());
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.held, 0U);
    void* const object = heap.malloc(100);
    heap.free(object);
}

TEST(QuarantineHeap, AlignsAndZeroesAsTheHeapBelow) {
    QuarantineHeap<4096, MallocHeap> heap;
    void* const object = heap.memalign(512, 1);
    EXPECT_EQ(addressOf(object) % 512, 0U);
    auto* const zero = static_cast<unsigned char*>(heap.zalloc(64));
    for (std::size_t i = 0; i < 64; ++i) {
        EXPECT_EQ(zero[i], 0);
    }
    heap.free(object);
    heap.free(zero);
}

class QuarantineHeapDeathTest : public ::testing::Test {
protected:
    static constexpr auto doubleFree = "^heapwright: free\\(\\): double free\n";
    static constexpr auto useAfterFree = "^heapwright: free\\(\\): use after free\n";

    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        Ledger::begin();
    }
    /// An object that waits, with another before and one behind it.
    unsigned char* waitingOne(std::size_t size = 100) {
        void* const before = heap_.malloc(40);
        void* const object = heap_.malloc(size);
        void* const behind = heap_.malloc(40);
        heap_.free(before);
        heap_.free(object);
        heap_.free(behind);
        return static_cast<unsigned char*>(object);
    }
    Quarantine heap_;
};

TEST_F(QuarantineHeapDeathTest, DiesOfADoubleFree) {
    for (const std::size_t size : {1U, 24U, 100U}) {
        void* const object = waitingOne(size);
        EXPECT_EXIT(heap_.free(object), ::testing::KilledBySignal(SIGABRT), doubleFree) << size;
    }
}

TEST_F(QuarantineHeapDeathTest, DiesOfADoubleFreeAlsoAfterItsSealWasWrittenOver) {
    unsigned char* const object = waitingOne();
    EXPECT_EXIT(
        {
            std::memset(object, 0, 24);
            heap_.free(object);
        },
        ::testing::KilledBySignal(SIGABRT), doubleFree);
}

TEST_F(QuarantineHeapDeathTest, AbortsOnAWriteToAWaitingObject) {
    unsigned char* const object = waitingOne();
    for (const std::size_t at : {0U, 7U, 8U, 16U, 23U, 24U, 50U, 99U}) {
        EXPECT_EXIT(
            {
                object[at] ^= 1U;
                heap_.flush();
            },
            ::testing::KilledBySignal(SIGABRT), useAfterFree)
            << at;
        EXPECT_EXIT(
            {
                object[at] ^= 1U;
                heap_.free(heap_.malloc(1000)); // pushes the others out
            },
            ::testing::KilledBySignal(SIGABRT), useAfterFree)
            << at;
    }
    heap_.flush();
}

/// The newest is sealed anew when another one comes behind it.
TEST_F(QuarantineHeapDeathTest, DetectsAWriteBeforeTheNextFreeSealsAgain) {
    auto* const object = static_cast<unsigned char*>(heap_.malloc(100));
    heap_.free(object);
    EXPECT_EXIT(
        {
            object[0] ^= 1U;
            heap_.free(heap_.malloc(100));
        },
        ::testing::KilledBySignal(SIGABRT), useAfterFree);
}

TEST_F(QuarantineHeapDeathTest, DiesOfAWriteAlsoWhenItIsCleared) {
    Chunked heap;
    auto* const object = static_cast<unsigned char*>(heap.malloc(100));
    heap.free(object);
    EXPECT_EXIT(
        {
            object[60] = 0;
            heap.clear();
        },
        ::testing::KilledBySignal(SIGABRT), useAfterFree);
}

/// All of an object, link and seal and poison, is overwritten before it is freed again. It passes
/// the queue twice, which cuts the queue, and that shows at last.
TEST_F(QuarantineHeapDeathTest, AbortsOnADoubleFreeOfAnOverwrittenObject) {
    unsigned char* const object = waitingOne();
    EXPECT_EXIT(
        {
            std::memset(object, 0, 100);
            heap_.free(object);
            heap_.flush();
        },
        ::testing::KilledBySignal(SIGABRT), useAfterFree);
}

} // namespace
} // namespace heapwright::testing

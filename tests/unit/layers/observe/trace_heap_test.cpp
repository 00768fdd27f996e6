// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/observe/trace_heap.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/structure/observe/ring_trace.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heapwright::testing {
namespace {

/// Keeps every line, and the other calls.
class LineSink {
public:
    void write(const TraceRecord& record) noexcept {
        lines.emplace_back(lineOf(record).view());
        lines.back().pop_back();
    }
    void flush() noexcept { lines.emplace_back("flushed"); }
    void forked() noexcept { lines.emplace_back("forked"); }

    std::vector<std::string> lines;
};

using Lines = std::vector<std::string>;

std::string hex(const void* object) {
    FixedText<24> text;
    text.putHex(addressOf(object));
    return std::string(text.view());
}

class TraceHeapTest : public ::testing::Test {
protected:
    void SetUp() override { Ledger::begin(); }
};

TEST_F(TraceHeapTest, WritesEachCallInOrder) {
    TraceHeap<LineSink, MmapHeap> heap;
    void* const object = heap.malloc(40);
    EXPECT_TRUE(heap.resize(object, 80));
    const std::size_t size = heap.getSize(object);
    void* const moved = heap.relocate(object, 100'000);
    heap.free(moved);
    void* const aligned = heap.memalign(64, 10);
    heap.free(aligned);
    void* const zero = heap.zalloc(8);
    heap.free(zero);
    EXPECT_EQ(
        heap.sink().lines,
        (Lines{"1 malloc 40 = " + hex(object), "2 resize " + hex(object) + " 80 = 1",
               "3 getSize " + hex(object) + " = " + std::to_string(size),
               "4 relocate " + hex(object) + " 100000 = " + hex(moved), "5 free " + hex(moved),
               "6 memalign 64 10 = " + hex(aligned), "7 free " + hex(aligned),
               "8 zalloc 8 = " + hex(zero), "9 free " + hex(zero)}));
}

TEST_F(TraceHeapTest, WritesNullsAndTheOtherVerbs) {
    TraceHeap<LineSink, FreelistHeap<ChunkHeap<4 * KiB, 0, CountingHeap>>> heap;
    Ledger::begin(1);
    EXPECT_EQ(heap.malloc(40), nullptr);
    EXPECT_EQ(heap.mallocHeld(40), nullptr);
    EXPECT_FALSE(heap.flush());
    heap.clear();
    EXPECT_EQ(heap.sink().lines,
              (Lines{"1 malloc 40 = 0x0", "2 mallocHeld 40 = 0x0", "3 flush = 0", "4 clear"}));
}

TEST_F(TraceHeapTest, WritesASizedFreeAsAFree) {
    TraceHeap<LineSink, ChunkHeap<4 * KiB, 0, CountingHeap>> heap;
    void* const object = heap.malloc(10'000);
    heap.free(object, 10'000);
    EXPECT_EQ(heap.sink().lines.back(), "2 free " + hex(object));
    EXPECT_TRUE(Ledger::the().live.empty()) << "the chunk of its own was returned";
}

TEST_F(TraceHeapTest, FlushesTheSinkBeforeAForkAndNotifiesItInTheChild) {
    TraceHeap<LineSink, CountingHeap> heap;
    heap.free(heap.malloc(8));
    heap.beforeFork();
    heap.afterForkInParent();
    heap.afterForkInChild();
    ASSERT_EQ(heap.sink().lines.size(), 4U);
    EXPECT_EQ(heap.sink().lines[2], "flushed");
    EXPECT_EQ(heap.sink().lines[3], "forked");
}

TEST_F(TraceHeapTest, IsMadeWhileCompilingOverARing) {
    static constinit TraceHeap<RingTrace<4>, SizeHeap<CountingHeap>> heap;
    void* const object = heap.malloc(24);
    heap.free(object);
    EXPECT_EQ(heap.sink().written(), 2U);
    EXPECT_EQ(heap.sink().latest().verb, Verb::free);
    EXPECT_EQ(heap.sink().latest(1).answer, addressOf(object));
    EXPECT_EQ(heap.sink().latest(1).sequence, 1U);
}

} // namespace
} // namespace heapwright::testing

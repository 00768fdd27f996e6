// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/reuse/random_freelist_heap.hpp>
#include <heapwright/layers/source/null_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace heapwright::testing {
namespace {

using Chunks = ChunkHeap<64 * KiB, 0, CountingHeap>; // gives rising addresses

/// The distances between successively allocated objects, in objects.
template <class Heap>
std::vector<std::size_t> firstSteps(Heap& heap) {
    std::vector<std::size_t> steps;
    Address before = addressOf(heap.malloc(64));
    for (int i = 0; i < 30; ++i) {
        const Address next = addressOf(heap.malloc(64));
        steps.push_back((next - before) / 64);
        before = next;
    }
    return steps;
}

TEST(RandomFreelistHeap, ServesFreshObjectsInRandomOrder) {
    Ledger::begin();
    RandomFreelistHeap<64, Chunks> heap;
    RandomFreelistHeap<64, Chunks> other;
    Chunks plain;
    const std::vector<std::size_t> rising = firstSteps(plain);
    EXPECT_TRUE(std::all_of(rising.begin(), rising.end(), [](std::size_t s) { return s == 1; }));
    const std::vector<std::size_t> steps = firstSteps(heap);
    EXPECT_NE(steps, rising) << "one chance in 64^30";
    EXPECT_NE(steps, firstSteps(other)) << "nor twice the same";
}

TEST(RandomFreelistHeap, DoesNotReuseAFreedObjectAtOnce) {
    Ledger::begin();
    RandomFreelistHeap<64, Chunks> heap;
    int same = 0;
    for (int i = 0; i < 1000; ++i) {
        void* const object = heap.malloc(64);
        heap.free(object);
        void* const next = heap.malloc(64);
        same += next == object ? 1 : 0;
        heap.free(next);
    }
    EXPECT_LT(same, 100) << "16 are to be expected, 1000 from a list";
}

TEST(RandomFreelistHeap, DrawsFromAllThatWait) {
    Ledger::begin();
    RandomFreelistHeap<16, CountingHeap> heap;
    std::set<void*> objects;
    for (int i = 0; i < 100; ++i) {
        objects.insert(heap.malloc(64));
    }
    EXPECT_EQ(objects.size(), 100U);
    for (void* const object : objects) {
        heap.free(object);
    }
    EXPECT_EQ(Ledger::the().live.size(), 115U) << "15 were never drawn";
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.heldCount, 115U);
    EXPECT_EQ(usage.held, 115U * 64);
    std::set<void*> drawn;
    while (void* const object = heap.mallocHeld(64)) {
        EXPECT_TRUE(drawn.insert(object).second) << "the same object twice";
    }
    EXPECT_EQ(drawn.size(), 115U);
    for (void* const object : drawn) {
        heap.free(object);
    }
    EXPECT_TRUE(heap.flush());
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
    EXPECT_FALSE(heap.flush());
}

TEST(RandomFreelistHeap, ServesFromFewWhereThereIsNoMoreMemory) {
    Ledger::begin(4);
    RandomFreelistHeap<16, CountingHeap> heap;
    void* const object = heap.malloc(64); // of three
    EXPECT_NE(object, nullptr);
    EXPECT_EQ(Ledger::the().live.size(), 3U);
    Ledger::the().refuse = Ledger::all;
    EXPECT_NE(heap.malloc(64), nullptr);
    EXPECT_NE(heap.malloc(64), nullptr);
    EXPECT_EQ(heap.malloc(64), nullptr);
    heap.free(object);
    EXPECT_EQ(heap.malloc(64), object);
}

using Fixed = RandomFreelistHeap<64, NullHeap>;
using Draws = std::array<void*, 64>;

Draws drawnFrom(Fixed& heap) {
    Draws drawn{};
    for (void*& object : drawn) {
        object = heap.malloc(64);
    }
    return drawn;
}

/// What a forked child draws.
Draws drawnInChild(Fixed& heap, bool told) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        if (told) {
            heap.afterForkInChild();
        }
        const Draws drawn = drawnFrom(heap);
        ::_exit(::write(ends[1], drawn.data(), sizeof drawn) == sizeof drawn ? 0 : 1);
    }
    Draws drawn{};
    EXPECT_EQ(::read(ends[0], drawn.data(), sizeof drawn), static_cast<ssize_t>(sizeof drawn));
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    ::close(ends[0]);
    ::close(ends[1]);
    return drawn;
}

TEST(RandomFreelistHeap, DrawsOtherNumbersInAForkedChild) {
    alignas(16) static unsigned char memory[64][64];
    Fixed heap;
    for (auto& object : memory) {
        heap.free(object);
    }
    heap.free(heap.malloc(64)); // seeds it
    heap.beforeFork();
    const Draws toldChild = drawnInChild(heap, true);
    const Draws child = drawnInChild(heap, false);
    heap.afterForkInParent();
    const Draws parent = drawnFrom(heap);
    EXPECT_EQ(child, parent) << "what it would do if it were not told";
    EXPECT_NE(toldChild, parent);
}

} // namespace
} // namespace heapwright::testing

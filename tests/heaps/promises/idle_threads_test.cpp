// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What granary holds while many threads wait that have used each size class. The memory of the
// units in use is counted, so superblocks, caches and the heaps of threads are in it.
#include <heapwright/allocators/granary.hpp>
#include <heapwright/allocators/granary_strict.hpp>
#include <heapwright/heap.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <thread>
#include <vector>

namespace heapwright::testing::promises {
namespace {

namespace granary = allocators::granary;
using platform::processors;

/// Allocates one object of each class up to 8 KiB and frees all of them, some times.
template <class Heap>
void useEachClass(unsigned rounds) {
    Heap heap;
    for (unsigned round = 0; round < rounds; ++round) {
        std::vector<void*> objects;
        for (std::size_t index = 0; granary::Classes::sizeOf(index) <= 8 * KiB; ++index) {
            objects.push_back(heap.malloc(granary::Classes::sizeOf(index)));
        }
        for (void* const object : objects) {
            heap.free(object);
        }
    }
}

template <class Heap>
std::uint64_t usedBytes() {
    Heap heap;
    HeapSnapshot snapshot;
    heap.beforeFork(); // holds the heap
    heap.inspect(snapshot);
    heap.afterForkInParent();
    return snapshot.source.usedBytes;
}

/// The bytes in use while a number of threads wait.
template <class Heap>
std::uint64_t usedWith(std::ptrdiff_t number, unsigned rounds) {
    std::latch idle(number);
    std::latch end(1);
    std::vector<std::thread> threads;
    for (std::ptrdiff_t each = 0; each < number; ++each) {
        threads.emplace_back([&] {
            useEachClass<Heap>(rounds);
            idle.count_down();
            end.wait();
        });
    }
    idle.wait();
    const std::uint64_t used = usedBytes<Heap>();
    end.count_down();
    for (std::thread& thread : threads) {
        thread.join();
    }
    return used;
}

template <class Heap>
class IdleThreads : public ::testing::Test {};
using Kinds = ::testing::Types<granary::Cached, allocators::granary_strict::Cached>;
TYPED_TEST_SUITE(IdleThreads, Kinds);

TYPED_TEST(IdleThreads, HoldLittleMoreMemoryWhenTheyAreMany) {
    const std::uint64_t few = usedWith<TypeParam>(16, 1);
    EXPECT_GT(few, 16 * 256 * KiB) << "each of them has superblocks of its own";
    EXPECT_LE(usedWith<TypeParam>(1000, 1) * 10, few * 13);
}

/// Up to 32 threads, and up to twice as many as processors, each soon has its own superblocks.
TYPED_TEST(IdleThreads, HoldLittleMoreMemoryAfterSomeRounds) {
    const auto few = static_cast<std::ptrdiff_t>(std::max<std::size_t>(32, 2 * processors()));
    if (few > 250) {
        GTEST_SKIP() << "the machine has so many processors that 1,000 threads are few";
    }
    const std::uint64_t most = usedWith<TypeParam>(few, 4) * 13;
    EXPECT_LE(usedWith<TypeParam>(1000, 4) * 10, most);
}

/// The check finds a heap in which each thread has its own at once.
TEST(IdleThreadsMutation, AHeapForEachThreadIsFound) {
    struct Name {};
    using Small = HoardHeap<granary::Classes, OwnHeap<2047>, granary::Rule, CleanRunningLines,
                            UniqueHeap<Name, granary::Source>>;
    using Cached = OwnerCacheHeap<granary::Classes, granary::coarseLimits, PlainFreelist,
                                  UniqueHeap<Name, Small>>;
    EXPECT_GT(usedWith<Cached>(100, 1), 4 * usedWith<Cached>(16, 1));
}

} // namespace
} // namespace heapwright::testing::promises

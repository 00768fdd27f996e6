// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/adaptor/std_allocator.hpp>
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/combine/unique_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/source/allocator_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapwright::testing {
namespace {

using Objects = SizeHeap<CountingHeap>;
using Named = UniqueHeap<struct ForContainers, Objects>;

/// Containers of each kind, filled and emptied and checked, from what an allocator is made from.
template <template <class> class Allocator, class... From>
void useContainers(From&... from) {
    using Text = std::basic_string<char, std::char_traits<char>, Allocator<char>>;
    using Entry = std::pair<const int, Text>;
    std::vector<int, Allocator<int>> numbers{Allocator<int>(from...)};
    std::list<Text, Allocator<Text>> texts{Allocator<Text>(from...)};
    std::map<int, Text, std::less<>, Allocator<Entry>> sorted{Allocator<Entry>(from...)};
    std::unordered_map<int, Text, std::hash<int>, std::equal_to<>, Allocator<Entry>> hashed{
        Allocator<Entry>(from...)};
    for (int i = 0; i < 500; ++i) {
        const Text text(static_cast<std::size_t>(i % 90), 'x', Allocator<char>(from...));
        numbers.push_back(i);
        texts.push_back(text);
        sorted.emplace(i, text);
        hashed.emplace(i, text);
        if (i % 3 == 0) {
            texts.pop_front();
            sorted.erase(i / 2);
        }
    }
    auto moved = std::move(hashed);
    auto copied = sorted;
    EXPECT_EQ(moved.at(89).size(), 89U);
    EXPECT_EQ(copied, sorted);
    EXPECT_EQ(numbers.back(), 499);
    EXPECT_EQ(texts.size(), 333U);
}

template <class T>
using Referring = StdAllocator<T, Objects>;
template <class T>
using Stateless = StdAllocator<T, Named>;

TEST(StdAllocator, ServesContainersFromAHeapItRefersTo) {
    Ledger::begin();
    Objects heap;
    useContainers<Referring>(heap);
    EXPECT_GT(Ledger::the().requests, 1000U);
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(StdAllocator, ServesContainersFromAHeapThatItsTypeNames) {
    Ledger::begin();
    useContainers<Stateless>();
    EXPECT_GT(Ledger::the().requests, 1000U);
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(sizeof(std::vector<int, Stateless<int>>), sizeof(std::vector<int>));
    EXPECT_TRUE(Stateless<int>() == Stateless<long>());
}

/// A moved container takes its heap along, a copied one keeps its own.
TEST(StdAllocator, MovesWithItsContainer) {
    Ledger::begin();
    {
        Objects one;
        Objects other;
        std::vector<int, Referring<int>> first({1, 2, 3}, one);
        std::vector<int, Referring<int>> second(other);
        second = first;
        EXPECT_EQ(&second.get_allocator().heap(), &other);
        const int* const data = first.data();
        second = std::move(first);
        EXPECT_EQ(second.data(), data);
        EXPECT_EQ(&second.get_allocator().heap(), &one);
        std::vector<int, Referring<int>> third({4}, other);
        swap(second, third);
        EXPECT_EQ(&third.get_allocator().heap(), &one);
        EXPECT_FALSE(Referring<int>(one) == Referring<int>(other));
        EXPECT_TRUE(Referring<int>(one) == Referring<char>(one));
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(StdAllocator, ThrowsWhereThereIsNoMemory) {
    Ledger::begin(Ledger::all);
    Objects heap;
    Referring<long> allocator(heap);
    EXPECT_THROW((void)allocator.allocate(1), std::bad_alloc);
    EXPECT_THROW((void)Stateless<long>().allocate(1), std::bad_alloc);
    EXPECT_THROW((void)allocator.allocate(SIZE_MAX / 8 + 1), std::bad_array_new_length);
    EXPECT_THROW((void)Stateless<long>().allocate(SIZE_MAX / 16 + 2), std::bad_array_new_length);
    Ledger::begin();
}

TEST(StdAllocator, HonoursTheAlignmentOfItsType) {
    struct alignas(256) Wide {
        long value;
    };
    Ledger::begin();
    {
        Objects heap;
        std::vector<Wide, Referring<Wide>> wide(heap);
        wide.resize(9);
        EXPECT_EQ(addressOf(&wide[3]) % 256, 0U);
        const auto shared = std::allocate_shared<Wide>(Referring<Wide>(heap));
        EXPECT_EQ(addressOf(shared.get()) % 256, 0U);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

/// There and back: an allocator over a heap over an allocator over a heap.
TEST(StdAllocator, WorksOverAHeapOverAnAllocator) {
    Ledger::begin();
    {
        using Above = SizeHeap<ChunkHeap<16 * KiB, 8, AllocatorHeap<Stateless<int>>>>;
        Above above;
        std::vector<int, StdAllocator<int, Above>> numbers(above);
        std::map<int, int, std::less<>, StdAllocator<std::pair<const int, int>, Above>> map(above);
        for (int i = 0; i < 1000; ++i) {
            numbers.push_back(i);
            map[i] = i;
        }
        EXPECT_EQ(numbers[999] + map.at(500), 1499);
        EXPECT_FALSE(Ledger::the().live.empty());
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

} // namespace
} // namespace heapwright::testing

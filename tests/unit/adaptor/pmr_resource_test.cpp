// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/adaptor/pmr_resource.hpp>
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/combine/unique_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/source/pmr_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <list>
#include <map>
#include <memory_resource>
#include <new>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

namespace heapwright::testing {
namespace {

using Objects = SizeHeap<CountingHeap>;

/// Containers of each kind, filled and emptied and checked.
void useContainers(std::pmr::memory_resource& resource) {
    std::pmr::vector<int> numbers(&resource);
    std::pmr::list<std::pmr::string> texts(&resource);
    std::pmr::map<int, std::pmr::string> byNumber(&resource);
    std::pmr::unordered_map<std::pmr::string, int> byText(&resource);
    for (int i = 0; i < 1000; ++i) {
        numbers.push_back(i);
        texts.emplace_back(static_cast<std::size_t>(i % 90), 'x');
        byNumber.try_emplace(i, "some text that does not fit into the string itself");
        byText.emplace(std::to_string(i) + " and something to make it longer", i);
        if (i % 3 == 0) {
            texts.pop_front();
            byNumber.erase(i / 2);
        }
    }
    EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), 0), 499'500);
    EXPECT_EQ(texts.size(), 666U);
    EXPECT_EQ(byText.at("77 and something to make it longer"), 77);
    EXPECT_EQ(byNumber.begin()->second.get_allocator().resource(), &resource);
}

TEST(PmrResource, ServesTheContainersOfTheStandardLibrary) {
    Ledger::begin();
    {
        PmrResource<Objects> own;
        useContainers(own);
        EXPECT_TRUE(Ledger::the().live.empty()) << "they gave everything back";
        Objects heap;
        PmrResource other(heap);
        useContainers(other);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(PmrResource, DestructorFreesAllObjectsOfItsHeap) {
    Ledger::begin();
    {
        PmrResource<ChunkHeap<4 * KiB, 0, CountingHeap>> arena;
        auto* const leftBehind = new (arena.allocate(sizeof(std::pmr::vector<int>)))
            std::pmr::vector<int>(1000, 7, &arena);
        EXPECT_EQ(leftBehind->at(999), 7);
        EXPECT_FALSE(Ledger::the().live.empty());
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(PmrResource, HonoursAnyAlignment) {
    PmrResource<Objects> resource;
    for (std::size_t align = 1; align <= 4096; align *= 2) {
        void* const object = resource.allocate(100, align);
        EXPECT_EQ(addressOf(object) % align, 0U);
        resource.deallocate(object, 100, align);
    }
}

TEST(PmrResource, ThrowsWhereThereIsNoMemory) {
    Ledger::begin(Ledger::all);
    PmrResource<Objects> resource;
    EXPECT_THROW((void)resource.allocate(10), std::bad_alloc);
    Ledger::begin();
    const volatile std::size_t tooLarge = SIZE_MAX - 4; // the compiler is not to know
    EXPECT_THROW((void)resource.allocate(tooLarge, 8), std::bad_alloc);
    EXPECT_THROW((void)resource.allocate(tooLarge, 4096), std::bad_alloc);
    resource.deallocate(resource.allocate(0), 0);
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(PmrResource, IsEqualToAResourceOfTheSameHeap) {
    Objects heap;
    const PmrResource first(heap);
    const PmrResource second(heap);
    const PmrResource<Objects> own;
    const PmrResource<Objects> otherOwn;
    EXPECT_TRUE(first == second);
    EXPECT_TRUE(own == own);
    EXPECT_FALSE(own == otherOwn);
    EXPECT_FALSE(first == own);
    using Named = UniqueHeap<struct ForPmr, SizeHeap<MmapHeap>>;
    const PmrResource<Named> one;
    const PmrResource<Named> other;
    EXPECT_TRUE(one == other);
    EXPECT_FALSE(one == *std::pmr::new_delete_resource());
}

TEST(PmrResource, ShowsItsHeap) {
    PmrResource<ChunkHeap<4 * KiB, 0, CountingHeap>> arena;
    Ledger::begin();
    (void)arena.allocate(100);
    arena.heap().clear();
    EXPECT_TRUE(Ledger::the().live.empty());
}

/// There and back: a resource over a heap over a resource over a heap.
struct Below {
    static inline PmrResource<Objects>* resource = nullptr;
    static std::pmr::memory_resource* get() noexcept { return resource; }
};

TEST(PmrResource, WorksOverAHeapOverAResource) {
    Ledger::begin();
    {
        PmrResource<Objects> below;
        Below::resource = &below;
        PmrResource<SizeHeap<ChunkHeap<16 * KiB, 8, PmrHeap<Below>>>> above;
        useContainers(above);
        EXPECT_FALSE(Ledger::the().live.empty()) << "the chunks";
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

} // namespace
} // namespace heapwright::testing

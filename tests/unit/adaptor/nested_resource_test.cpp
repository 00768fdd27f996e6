// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/adaptor/nested_resource.hpp>

#include <heapwright/allocators/arenas.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace heapwright::testing {
namespace {

using CountedReap = NestedResource<allocators::NestedReap<CountingHeap>>;
using CountedRegion = NestedResource<NestedHeap<RegionHeap<1 * KiB, 8 * KiB, CountingHeap>>>;

static_assert(!std::is_copy_constructible_v<Reap> && !std::is_copy_assignable_v<Reap>);
static_assert(NestableHeap<allocators::arenas::NestedRegion> && !NestableHeap<MallocHeap>);

template <class R>
class NestedResources : public ::testing::Test {};
using Kinds = ::testing::Types<CountedReap, CountedRegion>;
TYPED_TEST_SUITE(NestedResources, Kinds, );

TYPED_TEST(NestedResources, ServeContainersAndReturnAllMemory) {
    Ledger::begin();
    {
        TypeParam resource;
        std::pmr::map<int, std::pmr::string> names(&resource);
        for (int i = 0; i < 1000; ++i) {
            names.try_emplace(i, "some text that does not fit into the string itself");
            if (i % 2 == 0) {
                names.erase(i / 2);
            }
        }
        EXPECT_EQ(names.at(999).get_allocator().resource(), &resource);
        EXPECT_FALSE(Ledger::the().live.empty());
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TYPED_TEST(NestedResources, AreClearedWithTheirParent) {
    Ledger::begin();
    std::optional<TypeParam> parent(std::in_place);
    TypeParam child(*parent);
    EXPECT_TRUE(child.isInside(*parent));
    ASSERT_NE(child.malloc(100), nullptr);
    ASSERT_NE(child.template make<int>(7), nullptr);
    parent->clear();
    EXPECT_TRUE(Ledger::the().live.empty());
    ASSERT_NE(child.malloc(100), nullptr); // and may be used again
    EXPECT_TRUE(child.isInside(*parent));
    parent.reset();
    EXPECT_TRUE(Ledger::the().live.empty());
    ASSERT_NE(child.malloc(0), nullptr);
    child.clear();
    EXPECT_TRUE(Ledger::the().live.empty());
}

TYPED_TEST(NestedResources, MakeObjectsInTheirOwnResource) {
    struct alignas(256) Wide {
        std::array<int, 3> numbers;
    };
    Ledger::begin();
    TypeParam resource;
    const auto* const pair = resource.template make<std::pair<int, double>>(1, 2.5);
    EXPECT_EQ(pair->first, 1);
    EXPECT_EQ(pair->second, 2.5);
    struct Plain {
        int x;
        int y;
    };
    EXPECT_EQ(resource.template make<Plain>(3, 4)->y, 4);
    for (int i = 0; i < 20; ++i) {
        const auto* const wide = resource.template make<Wide>();
        EXPECT_EQ(addressOf(wide) % 256, 0U);
        EXPECT_EQ(wide->numbers[2], 0);
    }
    resource.free(nullptr);
}

TYPED_TEST(NestedResources, ThrowWhereThereIsNoMemory) {
    Ledger::begin(Ledger::all);
    TypeParam resource;
    EXPECT_EQ(resource.malloc(10), nullptr);
    EXPECT_THROW((void)resource.allocate(10), std::bad_alloc);
    EXPECT_THROW((void)resource.template make<int>(1), std::bad_alloc);
}

TEST(NestedResource, ReapReusesFreedObjects) {
    Reap reap;
    void* const first = reap.malloc(100);
    ASSERT_NE(reap.malloc(100), nullptr);
    EXPECT_GE(reap.getSize(first), 100U);
    reap.free(first);
    EXPECT_EQ(reap.malloc(100), first);
    EXPECT_TRUE(reap == reap);
    EXPECT_FALSE(reap == *std::pmr::new_delete_resource());
}

TEST(NestedResource, ThreadsUseASharedReap) {
    SharedReap reap;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&reap, thread] {
            SharedReap mine(reap);
            std::pmr::vector<std::pmr::string> kept(&mine);
            std::pmr::vector<std::pmr::string> shared(&reap);
            for (int i = 0; i < 2000; ++i) {
                kept.emplace_back(std::size_t{40}, static_cast<char>('a' + thread));
                shared.emplace_back(std::size_t{40}, static_cast<char>('a' + thread));
            }
            EXPECT_TRUE(std::equal(kept.begin(), kept.end(), shared.begin(), shared.end()));
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The suite on the heaps that free all at once. They are tested alone, under other layers, and put
// together as a reap is (a nested region that can free single objects).
#include "stack_suite.hpp"

namespace heapwright::testing {
namespace {

template <class Source>
using Region = RegionHeap<1 * KiB, 16 * KiB, Source>;

using NoBlocks = CoalesceableHeap<SizeHeap<NullHeap>>;
using Merging = CoalesceHeap<4 * KiB, NoBlocks>;
using NoQuick = StrictSegHeap<Exact<4>, FreelistHeap<NullHeap>, Merging>;
using NoPowers = StrictSegHeap<PowerOfTwo<10>, FreelistHeap<NullHeap>, SizeHeap<NullHeap>>;

// A reap: Lea's heap over nothing takes in what is freed.
using NoLea = ThresholdHeap<512, NoQuick>;
using Reap = NestedHeap<ClearOptimizedHeap<NoLea, Region<CountingHeap>>>;

using Regions =
    Stacks<Stack<Region<CountingHeap>>, Stack<ZoneHeap<2 * KiB, CountingHeap>>,
           Stack<ZoneHeap<64 * KiB, CountingHeap>>, Stack<XallocHeap<4 * MiB, CountingHeap>>,
           Stack<NestedHeap<Region<CountingHeap>>>, Stack<SizeHeap<Region<CountingHeap>>>,
           Stack<SizeHeap<XallocHeap<4 * MiB, CountingHeap>>>,
           Stack<CheckedHeap<SizeHeap<ZoneHeap<4 * KiB, CountingHeap>>>>,
           OneSize<FreelistHeap<ZoneHeap<4 * KiB, CountingHeap>>>,
           Stack<Region<Region<CountingHeap>>>, Stack<Region<ObstackHeap<4 * KiB, CountingHeap>>>>;
INSTANTIATE_TEST_SUITE_P(Regions, LayerStack, ::testing::ValuesIn(Regions::tables()));

using Reaps = Stacks<Stack<ClearOptimizedHeap<Merging, Region<CountingHeap>>>,
                     Stack<ClearOptimizedHeap<NoQuick, Region<CountingHeap>>>,
                     Stack<ClearOptimizedHeap<NoPowers, Region<CountingHeap>>>,
                     Stack<ClearOptimizedHeap<Merging, ZoneHeap<4 * KiB, CountingHeap>>>,
                     Stack<ClearOptimizedHeap<Merging, ChunkHeap<64 * KiB, 0, CountingHeap>>>,
                     Stack<ClearOptimizedHeap<Merging, Blocks>>,
                     Stack<ClearOptimizedHeap<Blocks, Region<CountingHeap>>>,
                     Stack<ClearOptimizedHeap<Merging, ObstackHeap<4 * KiB, CountingHeap>>>,
                     Stack<Reap>, Stack<ANSIWrapper<AlignHeap<CheckedHeap<Reap>>>>,
                     Stack<LockedHeap<FutexLock, CheckedHeap<Reap>>>,
                     Stack<EmulatedRegionHeap<CountingHeap, CountingHeap>>,
                     Stack<EmulatedRegionHeap<MmapHeap, Blocks>>,
                     Stack<NestedHeap<EmulatedRegionHeap<MmapHeap, Quick>>>,
                     Uncounted<EmulatedRegionHeap<MmapHeap, MallocHeap>>,
                     Uncounted<NestedHeap<Region<MmapHeap>>>>;
INSTANTIATE_TEST_SUITE_P(Reaps, LayerStack, ::testing::ValuesIn(Reaps::tables()));

/// Objects of an obstack come and go as on a stack.
template <class H>
void runStackHistory(H& heap, std::uint32_t seed, bool mayFail) {
    struct Object {
        unsigned char* at;
        std::size_t size;
        unsigned char fill;
    };
    std::mt19937 random(seed);
    std::vector<Object> stack;
    for (int step = 0; step < 3000; ++step) {
        if (stack.empty() || random() % 8 != 0) {
            const std::size_t size = 1 + random() % (random() % 16 == 0 ? 4000 : 100);
            const auto fill = static_cast<unsigned char>(random());
            void* const object = heap.malloc(size);
            if (object == nullptr) {
                ASSERT_TRUE(mayFail);
                continue;
            }
            ASSERT_EQ(addressOf(object) % minAlignment, 0U);
            std::memset(object, fill, size);
            stack.push_back({static_cast<unsigned char*>(object), size, fill});
            continue;
        }
        const std::size_t index = random() % stack.size();
        for (const Object& object : stack) {
            ASSERT_TRUE(std::all_of(object.at, object.at + object.size,
                                    [&](unsigned char byte) { return byte == object.fill; }));
        }
        heap.free(stack[index].at);
        stack.resize(index);
    }
}

template <class H>
class Obstacks : public ::testing::Test {};
using ObstackTypes =
    ::testing::Types<ObstackHeap<1 * KiB, CountingHeap>, ObstackHeap<4 * KiB, CountingHeap>,
                     ObstackHeap<4 * KiB, Region<CountingHeap>>, ObstackHeap<4 * KiB, Blocks>,
                     NestedHeap<ObstackHeap<4 * KiB, CountingHeap>>,
                     LockedHeap<FutexLock, ObstackHeap<4 * KiB, CountingHeap>>>;
TYPED_TEST_SUITE(Obstacks, ObstackTypes, );

TYPED_TEST(Obstacks, AgreeWithAStackOverRandomHistories) {
    for (const std::uint32_t seed : {1U, 2U, 3U}) {
        Ledger::begin();
        {
            TypeParam heap;
            runStackHistory(heap, seed, false);
            heap.clear();
            EXPECT_TRUE(Ledger::the().live.empty());
            runStackHistory(heap, seed + 100, false);
        }
        EXPECT_TRUE(Ledger::the().live.empty());
        EXPECT_EQ(Ledger::the().wrongFrees, 0U);
    }
}

TYPED_TEST(Obstacks, ReturnNullIfTheSourceDoes) {
    for (std::size_t refuse = 1; refuse <= 40; ++refuse) {
        Ledger::begin(refuse);
        {
            TypeParam heap;
            runStackHistory(heap, 7, true);
        }
        EXPECT_TRUE(Ledger::the().live.empty());
        EXPECT_EQ(Ledger::the().wrongFrees, 0U);
    }
}

} // namespace
} // namespace heapwright::testing

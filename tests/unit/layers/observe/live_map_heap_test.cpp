// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/object/align_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/observe/live_map_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>

#include <support/counting_heap.hpp>
#include <support/shown_heap.hpp>

#include <gtest/gtest.h>

#include <csignal>

namespace heapwright::testing {
namespace {

using Sized = SizeHeap<CountingHeapAt<8>>;
using Mapped = LiveMapHeap<AlignHeap<Sized>>;

/// Returns the same memory again, also if it is live.
class Forgetful {
public:
    static constexpr std::size_t alignment = 16;
    using Below = Heaps<>;
    void* malloc(std::size_t /*size*/) noexcept { return memory_; }
    void* mallocAtOnce(std::size_t size) noexcept { return size > 64 ? nullptr : memory_; }
    void free(void* /*object*/) noexcept {}

private:
    alignas(16) unsigned char memory_[64] = {};
};

class LiveMapHeapDeathTest : public ::testing::Test {
protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        Ledger::begin();
    }
    Mapped heap_;
};

void expectDeath(auto body, const char* words) {
    EXPECT_EXIT(body(), ::testing::KilledBySignal(SIGABRT), words);
}

TEST_F(LiveMapHeapDeathTest, LetsRightUsePass) {
    void* const object = heap_.malloc(100);
    EXPECT_GE(heap_.getSize(object), 100U);
    EXPECT_TRUE(heap_.resize(object, 60));
    heap_.check(object, "test");
    heap_.free(object);
    void* const aligned = heap_.memalign(256, 10);
    EXPECT_EQ(addressOf(aligned) % 256, 0U);
    heap_.free(aligned);
    EXPECT_EQ(Ledger::the().outstanding(), 0U);
}

TEST_F(LiveMapHeapDeathTest, KnowsAFreedObjectThoughItsMemoryIsGone) {
    void* const object = heap_.malloc(100);
    heap_.free(object);
    ASSERT_EQ(Ledger::the().outstanding(), 0U);
    expectDeath([&] { heap_.free(object); }, "^heapwright: free\\(\\): double free\n");
    expectDeath([&] { (void)heap_.getSize(object); },
                "^heapwright: malloc_usable_size\\(\\): use of a freed object\n");
    expectDeath([&] { (void)heap_.resize(object, 1); },
                "^heapwright: realloc\\(\\): use of a freed object\n");
}

TEST_F(LiveMapHeapDeathTest, RefusesEveryOtherAddress) {
    auto* const object = static_cast<unsigned char*>(heap_.malloc(100));
    alignas(16) unsigned char memory[64] = {};
    for (unsigned char* const wrong : {object + 1, object + 8, object + 16, object - 16, memory}) {
        expectDeath([&] { heap_.free(wrong); }, "^heapwright: free\\(\\): invalid pointer\n");
        expectDeath([&] { heap_.check(wrong, "realloc"); }, "realloc\\(\\): invalid pointer\n");
    }
    expectDeath([&] { heap_.free(pointerTo(16)); }, "invalid pointer");
    expectDeath([&] { heap_.free(pointerTo(~Address{15})); }, "invalid pointer");
    heap_.free(object);
}

TEST_F(LiveMapHeapDeathTest, IgnoresContentsOfObjects) {
    auto* const object = static_cast<unsigned char*>(heap_.malloc(100));
    heap_.free(object);
    auto* const again = static_cast<unsigned char*>(heap_.malloc(400));
    std::fill_n(again, 400, 0xFF);
    expectDeath([&] { heap_.free(again + 32); }, "free\\(\\): (invalid pointer|double free)");
    heap_.free(again);
}

TEST(LiveMapHeap, SeesThatMemoryIsGivenOutTwice) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    LiveMapHeap<Forgetful> heap;
    void* const object = heap.malloc(8);
    heap.free(object);
    EXPECT_EQ(heap.malloc(8), object);
    expectDeath([&] { (void)heap.malloc(8); },
                "^heapwright: malloc\\(\\): memory given out twice\n");
    expectDeath([&] { (void)heap.mallocAtOnce(8); },
                "^heapwright: malloc\\(\\): memory given out twice\n");
}

TEST(LiveMapHeap, KnowsObjectsServedAtOnce) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    static_assert(AtOnceHeap<LiveMapHeap<Forgetful>> && !AtOnceHeap<Mapped>);
    LiveMapHeap<Forgetful> heap;
    EXPECT_EQ(heap.mallocAtOnce(65), nullptr);
    for (int time = 0; time < 2; ++time) { // first without bits
        void* const object = heap.mallocAtOnce(8);
        ASSERT_NE(object, nullptr);
        heap.free(object);
        expectDeath([&] { heap.free(object); }, "^heapwright: free\\(\\): double free\n");
    }
}

TEST(LiveMapHeap, FollowsAnObjectThatMoves) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    LiveMapHeap<MmapHeap> heap;
    void* const object = heap.malloc(1 * MiB);
    void* moved = nullptr;
    for (std::size_t size = 2 * MiB; moved == nullptr || moved == object; size += 16 * MiB) {
        moved = heap.relocate(moved == nullptr ? object : moved, size);
        ASSERT_NE(moved, nullptr);
    }
    heap.check(moved, "test");
    expectDeath([&] { heap.free(object); }, "double free");
    EXPECT_EQ(heap.relocate(moved, std::size_t{1} << 60U), nullptr);
    heap.check(moved, "test");
    heap.free(moved);
}

using Shown = LiveMapHeap<ShownHeap>;
static_assert(InspectableHeap<Shown> && WalkableHeap<Shown> && PurgeableHeap<Shown>);
static_assert(!InspectableHeap<Mapped> && !WalkableHeap<Mapped> && !PurgeableHeap<Mapped>);

/// Keeps what is freed, and shows it as if it were live.
class HoldingOn : public ShownHeap {
public:
    void free(void* /*object*/) noexcept {}
};

TEST(LiveMapHeap, ShowsLiveObjectsByItsOwnMap) {
    Ledger::begin();
    LiveMapHeap<HoldingOn> heap;
    void* const live = heap.malloc(40);
    void* const freed = heap.malloc(40);
    heap.free(freed);
    const auto shown = walked(heap);
    EXPECT_EQ(shown.size(), 2U);
    EXPECT_FALSE(shown.at(live).cached);
    EXPECT_TRUE(shown.at(freed).cached);
}

} // namespace
} // namespace heapwright::testing

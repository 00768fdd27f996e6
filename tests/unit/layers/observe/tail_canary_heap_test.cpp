// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/object/align_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/observe/tail_canary_heap.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>

#include <support/counting_heap.hpp>
#include <support/shown_heap.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace heapwright::testing {
namespace {

using Chunks = ChunkHeap<64 * KiB, 8, CountingHeap>;
using Canary = TailCanaryHeap<AlignHeap<SizeHeap<Chunks>>>;

class TailCanaryHeapDeathTest : public ::testing::Test {
protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        Ledger::begin();
    }

    unsigned char* taken(std::size_t size) {
        return static_cast<unsigned char*>(heap_.malloc(size));
    }

    template <class Act>
    static void dies(Act act, const char* words) {
        EXPECT_EXIT(act(), ::testing::KilledBySignal(SIGABRT), words);
    }

    Canary heap_;
};

TEST_F(TailCanaryHeapDeathTest, LetsTheWholeObjectBeUsedAndNoMore) {
    for (std::size_t size = 0; size < 200; ++size) {
        unsigned char* const object = taken(size);
        std::memset(object, 0xFF, size);
        EXPECT_EQ(heap_.getSize(object), size);
        heap_.check(object, "test");
        heap_.free(object);
    }
}

TEST_F(TailCanaryHeapDeathTest, DiesOfAnyChangedByteRightBehindTheObject) {
    for (const std::size_t size : {1U, 8U, 15U, 16U, 101U}) { // with much slack and with none
        unsigned char* const object = taken(size);
        for (std::size_t byte = size; byte < size + 8; ++byte) {
            object[byte] ^= 0x10U;
            dies([&] { heap_.free(object); }, "^heapwright: free\\(\\): overflow\n");
            object[byte] ^= 0x10U;
        }
        heap_.free(object);
    }
}

TEST_F(TailCanaryHeapDeathTest, SeesTheEndOfAStringThatIsOneTooLong) {
    for (std::size_t size = 1; size < 120; ++size) {
        unsigned char* const object = taken(size);
        EXPECT_NE(object[size], 0) << size;
        heap_.free(object);
    }
    unsigned char* const object = taken(24);
    object[24] = 0;
    dies([&] { heap_.free(object); }, "^heapwright: free\\(\\): overflow\n");
}

TEST_F(TailCanaryHeapDeathTest, LooksInEveryVerbAndNamesItsRoutine) {
    unsigned char* const object = taken(40);
    object[40] ^= 1U;
    dies([&] { static_cast<void>(heap_.resize(object, 10)); },
         "^heapwright: realloc\\(\\): overflow\n");
    dies([&] { static_cast<void>(heap_.getSize(object)); },
         "^heapwright: malloc_usable_size\\(\\): overflow\n");
    dies([&] { heap_.check(object, "calloc"); }, "^heapwright: calloc\\(\\): overflow\n");
    object[40] ^= 1U;
    heap_.free(object);
}

TEST_F(TailCanaryHeapDeathTest, DiesOfADoubleFreeWhileItsMarkStands) {
    unsigned char* const object = taken(40);
    heap_.free(object);
    dies([&] { heap_.free(object); }, "^heapwright: free\\(\\): double free\n");
    dies([&] { static_cast<void>(heap_.resize(object, 1)); },
         "^heapwright: realloc\\(\\): use of a freed object\n");
}

TEST_F(TailCanaryHeapDeathTest, NoTwoObjectsHaveTheSameWords) {
    const auto wordAt = [](const unsigned char* place) {
        std::uint64_t word = 0;
        std::memcpy(&word, place, sizeof word);
        return word;
    };
    unsigned char* const one = taken(200);
    unsigned char* const two = taken(200);
    const std::size_t room = Canary::alignment * 13;
    EXPECT_NE(wordAt(one + 200), wordAt(two + 200));
    EXPECT_NE(wordAt(one + room - 8), wordAt(two + room - 8));
    std::memcpy(one + 200, two + 200, room - 200);
    dies([&] { heap_.free(one); }, "^heapwright: free\\(\\): overflow\n");
}

TEST_F(TailCanaryHeapDeathTest, GrowsAndShrinksIntoTheRoomThatThereIs) {
    unsigned char* const object = taken(100); // with the tail, a block of 112
    EXPECT_TRUE(heap_.resize(object, 60));
    EXPECT_EQ(heap_.getSize(object), 60U);
    EXPECT_TRUE(heap_.resize(object, 104));
    EXPECT_EQ(heap_.getSize(object), 104U);
    EXPECT_FALSE(heap_.resize(object, 4000));
    EXPECT_FALSE(heap_.resize(object, SIZE_MAX - 3));
    EXPECT_EQ(heap_.getSize(object), 104U) << "nothing has changed";
    heap_.free(object);
}

TEST_F(TailCanaryHeapDeathTest, KeepsTheAlignment) {
    auto* const object = static_cast<unsigned char*>(heap_.memalign(512, 30));
    EXPECT_EQ(addressOf(object) % 512, 0U);
    object[30] ^= 1U;
    dies([&] { heap_.free(object); }, "^heapwright: free\\(\\): overflow\n");
    object[30] ^= 1U;
    heap_.free(object);
}

TEST(TailCanaryHeap, GuardsMovedObjects) {
    TailCanaryHeap<MmapHeap> heap;
    auto* object = static_cast<unsigned char*>(heap.zalloc(100'000));
    EXPECT_EQ(object[99'999], 0U);
    object = static_cast<unsigned char*>(heap.relocate(object, 5'000'000));
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(heap.getSize(object), 5'000'000U);
    EXPECT_NE(object[5'000'000], 0U);
    EXPECT_EQ(heap.relocate(object, SIZE_MAX - 3), nullptr);
    heap.free(object);
}

/// Frees objects of known size.
class KnownSizeHeap : public CountingHeap {
public:
    void freeKnown(void* object, std::size_t usable) noexcept {
        known = usable;
        free(object);
    }

    static inline std::size_t known = 0;
};

TEST(TailCanaryHeap, PassesTheSizeThatTheHeapBelowReported) {
    Ledger::begin();
    TailCanaryHeap<KnownSizeHeap> heap;
    void* const object = heap.malloc(37);
    const std::size_t usable = Ledger::the().live.at(object);
    heap.free(object);
    EXPECT_EQ(KnownSizeHeap::known, usable);
    EXPECT_TRUE(Ledger::the().live.empty());
}

/// Knows the sizes of its objects at once, except of one.
class KnowingHeap : public KnownSizeHeap {
public:
    static constexpr std::size_t mostKnownFast = 64;
    [[nodiscard]] std::size_t tryGetSizeFast(void* object) noexcept {
        return object == unknown ? 0 : getSize(object);
    }
    void freeKnownFast(void* object, std::size_t usable) noexcept {
        ++fast;
        freeKnown(object, usable);
    }

    static inline void* unknown = nullptr;
    static inline unsigned fast = 0;
};

TEST(TailCanaryHeap, ChecksAnObjectWhetherItsSizeIsKnownAtOnceOrNot) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Ledger::begin();
    TailCanaryHeap<KnowingHeap> heap;
    for (const std::size_t size : {37U, 38U, 57U}) {
        auto* const object = static_cast<unsigned char*>(heap.malloc(size));
        const bool isKnown = size == 37;
        KnowingHeap::unknown = size == 38 ? object : nullptr;
        KnowingHeap::fast = 0;
        object[size] ^= 1U;
        EXPECT_EXIT(heap.free(object), ::testing::KilledBySignal(SIGABRT),
                    "^heapwright: free\\(\\): overflow\n");
        object[size] ^= 1U;
        heap.free(object);
        EXPECT_EQ(KnowingHeap::fast, isKnown ? 1U : 0U);
        EXPECT_TRUE(Ledger::the().live.empty());
    }
}

/// Reports the size of every other object that it serves.
class FastHeap : public CountingHeap {
public:
    [[nodiscard]] void* tryMallocKnown(std::size_t size, std::size_t& usable) noexcept {
        if (requests++ % 2 == 0) {
            return nullptr;
        }
        usable = size + 24;
        return CountingHeap::malloc(usable);
    }

    static inline unsigned requests = 0;
};

TEST(TailCanaryHeap, TakesTheSizeFromTheHeapBelowThatServesAtOnce) {
    Ledger::begin();
    static_assert(AtOnceHeap<TailCanaryHeap<FastHeap>> && !AtOnceHeap<Canary>);
    TailCanaryHeap<FastHeap> heap;
    EXPECT_EQ(heap.mallocAtOnce(50), nullptr) << "there are no secrets yet";
    for (std::size_t size = 0; size < 100; ++size) {
        void* const object = heap.malloc(size);
        ASSERT_NE(object, nullptr);
        EXPECT_EQ(heap.getSize(object), size);
        heap.free(object);
    }
    const unsigned before = FastHeap::requests;
    EXPECT_EQ(heap.malloc(SIZE_MAX - 3), nullptr);
    EXPECT_EQ(heap.mallocAtOnce(SIZE_MAX - 3), nullptr);
    EXPECT_EQ(FastHeap::requests, before) << "the sum overflowed";
    void* const first = heap.mallocAtOnce(50);
    void* const second = heap.mallocAtOnce(50);
    void* const object = first != nullptr ? first : second;
    EXPECT_TRUE(first == nullptr || second == nullptr) << "the heap below refuses every other";
    EXPECT_EQ(heap.getSize(object), 50U);
    heap.free(object);
    EXPECT_TRUE(Ledger::the().live.empty());
}

using Shown = TailCanaryHeap<ShownHeap>;
static_assert(InspectableHeap<Shown> && WalkableHeap<Shown> && PurgeableHeap<Shown>);
static_assert(!InspectableHeap<Canary> && !WalkableHeap<Canary> && !PurgeableHeap<Canary>);

TEST(TailCanaryHeap, ReportsRequestedSizes) {
    Ledger::begin();
    Shown heap;
    for (const std::size_t size : std::initializer_list<std::size_t>{0, 1, 8, 40, 1000, 5000}) {
        void* const object = heap.malloc(size);
        EXPECT_EQ(walked(heap).at(object).size, size);
    }
}

TEST(TailCanaryHeap, ShowsAnObjectWithABrokenTailAsLargeAsItMayBe) {
    Ledger::begin();
    Shown heap;
    void* const object = heap.malloc(40);
    std::memset(object, 0, Ledger::the().live.at(object));
    EXPECT_EQ(walked(heap).at(object).size, Ledger::the().live.at(object) - 8);
}

TEST(TailCanaryHeapRequestDeathTest, KnowsSizeAndAlignment) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    TailCanaryHeap<MallocHeap> heap;
    void* const plain = heap.malloc(100);
    heap.checkRequest(plain, 100, 1, "free_sized");
    heap.checkRequest(plain, 100, minAlignment, "free_sized");
    heap.checkRequest(plain, anySize, anyAlignment, "free_sized");
    for (const std::size_t size : {0U, 99U, 101U, 112U}) {
        EXPECT_EXIT(heap.checkRequest(plain, size, 1, "free_sized"),
                    ::testing::KilledBySignal(SIGABRT),
                    "^heapwright: free_sized\\(\\): the size is not the object's\n");
    }
    EXPECT_EXIT(heap.checkRequest(plain, 100, 32, "free_sized"), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: free_sized\\(\\): the alignment is not the object's\n");
    void* const aligned = heap.memalign(256, 300);
    EXPECT_EQ(heap.getSize(aligned), 300U);
    heap.checkRequest(aligned, 300, 256, "free_sized");
    for (const std::size_t align : {1U, 64U, 512U}) {
        EXPECT_EXIT(heap.checkRequest(aligned, 300, align, "free_sized"),
                    ::testing::KilledBySignal(SIGABRT),
                    "^heapwright: free_sized\\(\\): the alignment is not the object's\n");
    }
    heap.free(plain);
    heap.free(aligned);
}

} // namespace
} // namespace heapwright::testing

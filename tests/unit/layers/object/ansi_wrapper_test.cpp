// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/object/align_heap.hpp>
#include <heapwright/layers/object/ansi_wrapper.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/observe/tail_canary_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

using Ansi = ANSIWrapper<AlignHeap<SizeHeap<CountingHeap>>>;

class ANSIWrapperTest : public ::testing::Test {
protected:
    void SetUp() override { Ledger::begin(); }
    Ansi heap_;
};

TEST_F(ANSIWrapperTest, GivesEachRequestForNothingAnObjectOfItsOwn) {
    void* const first = heap_.malloc(0);
    void* const second = heap_.malloc(0);
    void* const third = heap_.calloc(0, 8);
    EXPECT_TRUE(first != nullptr && second != nullptr && third != nullptr);
    EXPECT_NE(first, second);
    heap_.free(first);
    heap_.free(second);
    heap_.free(third);
}

TEST_F(ANSIWrapperTest, RefusesMoreThanPointersCanTellApart) {
    const std::size_t most = PTRDIFF_MAX;
    EXPECT_EQ(heap_.malloc(most + 1), nullptr);
    EXPECT_EQ(heap_.memalign(64, most + 1), nullptr);
    EXPECT_EQ(heap_.calloc(most, 3), nullptr);
    EXPECT_EQ(heap_.calloc(most / 2 + 1, 2), nullptr);
    EXPECT_EQ(Ledger::the().requests, 0U) << "nobody below was asked";
}

/// Serves small requests at once.
class PromptHeap : public AlignHeap<SizeHeap<CountingHeap>> {
public:
    [[nodiscard]] void* mallocAtOnce(std::size_t size) noexcept {
        ++prompt;
        return size - 1 < 64 ? malloc(size) : nullptr;
    }

    static inline unsigned prompt = 0;
};

TEST_F(ANSIWrapperTest, AppliesTheRulesToWhatIsNotServedAtOnce) {
    ANSIWrapper<PromptHeap> heap;
    for (const std::size_t size : {0U, 1U, 64U, 65U}) {
        void* const object = heap.malloc(size);
        EXPECT_NE(object, nullptr);
        EXPECT_EQ(Ledger::the().live.size(), 1U) << size;
        heap.free(object);
    }
    EXPECT_EQ(PromptHeap::prompt, 4U);
    EXPECT_EQ(Ledger::the().requests, 4U);
    EXPECT_EQ(heap.malloc(std::size_t{PTRDIFF_MAX} + 1), nullptr);
    EXPECT_EQ(Ledger::the().requests, 4U) << "the heap below was not asked";
}

/// Reports at once how large its objects are.
class KnowingHeap : public AlignHeap<SizeHeap<CountingHeap>> {
public:
    [[nodiscard]] void* tryMallocKnown(std::size_t size, std::size_t& usable) noexcept {
        void* const object = malloc(size);
        usable = getSize(object);
        return object;
    }
};

/// The canary has no secret before the first request, so it does not serve that one at once.
TEST_F(ANSIWrapperTest, HasOneSizeForAllObjectsOfNothing) {
    ANSIWrapper<TailCanaryHeap<KnowingHeap>> heap;
    void* const objects[] = {heap.malloc(0), heap.malloc(0), heap.mallocAtOnce(0)};
    for (void* const object : objects) {
        EXPECT_EQ(heap.getSize(object), 1U);
        heap.free(object);
    }
}

TEST_F(ANSIWrapperTest, ClearsObjectsOfCalloc) {
    auto* const bytes = static_cast<unsigned char*>(heap_.calloc(10, 10));
    for (std::size_t i = 0; i < 100; ++i) {
        EXPECT_EQ(bytes[i], 0);
    }
    heap_.free(bytes);
}

TEST_F(ANSIWrapperTest, ReallocatesAsTheStandardHasIt) {
    auto* object = static_cast<unsigned char*>(heap_.realloc(nullptr, 10));
    ASSERT_NE(object, nullptr);
    std::memset(object, 9, 10);
    object = static_cast<unsigned char*>(heap_.realloc(object, 10'000));
    EXPECT_EQ(object[9], 9);
    object = static_cast<unsigned char*>(heap_.realloc(object, 5));
    EXPECT_EQ(object[4], 9);
    EXPECT_EQ(heap_.realloc(object, 0), nullptr);
    EXPECT_TRUE(Ledger::the().live.empty()) << "a size of zero frees";
}

TEST_F(ANSIWrapperTest, KeepsTheObjectWhenItCannotGrow) {
    auto* const object = static_cast<unsigned char*>(heap_.malloc(10));
    object[0] = 9;
    EXPECT_EQ(heap_.realloc(object, std::size_t{PTRDIFF_MAX} + 1), nullptr);
    Ledger::the().refuse = Ledger::all;
    EXPECT_EQ(heap_.realloc(object, 10'000), nullptr);
    EXPECT_EQ(heap_.realloc(object, 5), object) << "to shrink it needs no memory";
    EXPECT_EQ(object[0], 9);
    heap_.free(object);
}

TEST_F(ANSIWrapperTest, AlignsToPowersOfTwoOnly) {
    EXPECT_EQ(heap_.memalign(48, 10), nullptr);
    EXPECT_EQ(heap_.memalign(0, 10), nullptr);
    void* const object = heap_.memalign(1024, 0);
    EXPECT_EQ(addressOf(object) % 1024, 0U);
    heap_.free(object);
    void* const ordinary = heap_.memalign(1, 10);
    EXPECT_EQ(addressOf(ordinary) % 16, 0U);
    heap_.free(ordinary);
}

TEST_F(ANSIWrapperTest, TakesNull) {
    heap_.free(nullptr);
    EXPECT_EQ(heap_.getSize(nullptr), 0U);
}

TEST_F(ANSIWrapperTest, HasEveryVerbOverAnyHeap) {
    MemoryUsage usage;
    heap_.measure(usage);
    EXPECT_EQ(usage.mapped, 0U);
    EXPECT_FALSE(heap_.trim(0));
    heap_.beforeFork();
    heap_.afterForkInParent();
    EXPECT_TRUE(ForkableHeap<Ansi> && TrimmableHeap<Ansi> && MeasurableHeap<Ansi>);
}

TEST(ANSIWrapperOverPages, MovesThemInsteadOfTheBytes) {
    ANSIWrapper<MmapHeap> heap;
    auto* object = static_cast<unsigned char*>(heap.malloc(1 * MiB));
    object[1000] = 4;
    object = static_cast<unsigned char*>(heap.realloc(object, 64 * MiB));
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(object[1000], 4);
    heap.free(object);
}

} // namespace
} // namespace heapwright::testing

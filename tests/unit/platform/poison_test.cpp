// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/heap.hpp>
#include <heapwright/platform/poison.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace heapwright::testing {
namespace {

constexpr const char* report = "use-after-poison";

/// Reads so that no compiler can leave it out.
char read(const void* place) {
    return *static_cast<const volatile char*>(place);
}

TEST(Poison, PoisonedMemoryIsInaccessibleUntilUnpoisoned) {
    alignas(8) std::array<char, 64> memory{};
    platform::poison(memory.data(), memory.size());
    if constexpr (platform::poisons) {
        EXPECT_DEATH(read(&memory[8]), report);
    } else {
        EXPECT_EQ(read(&memory[8]), 0);
    }
    platform::unpoison(memory.data(), 13);
    EXPECT_EQ(read(&memory[12]), 0);
    if constexpr (platform::poisons) {
        EXPECT_DEATH(read(&memory[13]), report);
    }
    platform::unpoison(memory.data(), memory.size());
    EXPECT_EQ(read(&memory[63]), 0);
}

TEST(Poison, DoesNothingToMemoryThatIsShared) {
    alignas(8) std::array<char, 64> memory{};
    platform::beginSharing(memory.data(), memory.size());
    platform::poison(&memory[8], 8);
    EXPECT_EQ(read(&memory[8]), 0);
    platform::endSharing(memory.data());
    platform::poison(&memory[8], 8);
    if constexpr (platform::poisons) {
        EXPECT_DEATH(read(&memory[8]), report);
    }
    platform::unpoison(&memory[8], 8);
}

/// The following shows nothing where no sanitizer reports it.
class HeapUnderAddressSanitizer : public ::testing::Test {
protected:
    void SetUp() override {
        if (!platform::poisons) {
            GTEST_SKIP() << "this build has no AddressSanitizer";
        }
        Ledger::begin();
    }
};

TEST_F(HeapUnderAddressSanitizer, ReportsAnOverflowOfTheNewestPieceOfAChunk) {
    ChunkHeap<4 * KiB, 0, CountingHeap> heap;
    auto* const object = static_cast<char*>(heap.malloc(20));
    EXPECT_EQ(read(object + 19), read(object + 19));
    EXPECT_DEATH(read(object + 20), report);
    EXPECT_DEATH(read(object + 32), report);
    auto* const next = static_cast<char*>(heap.malloc(20));
    EXPECT_EQ(next, object + 32);
    EXPECT_EQ(read(next), read(next));
}

TEST_F(HeapUnderAddressSanitizer, ReportsAUseOfAnObjectOnAList) {
    FreelistHeap<SizeHeap<CountingHeap>> heap;
    auto* const object = static_cast<char*>(heap.malloc(48));
    heap.free(object);
    EXPECT_DEATH(read(object + 8), report);
    EXPECT_DEATH(read(object + 47), report);
    ASSERT_EQ(heap.malloc(48), object);
    EXPECT_EQ(read(object + 47), read(object + 47));
    heap.free(object);
}

TEST_F(HeapUnderAddressSanitizer, ReportsAUseOfAnObjectInAClass) {
    using Lists = StrictSegHeap<PowerOfTwo<8>, FreelistHeap<NullHeap>, SizeHeap<CountingHeap>>;
    Lists heap;
    auto* const object = static_cast<char*>(heap.malloc(50)); // of the class of 56
    heap.free(object);
    EXPECT_DEATH(read(object + 8), report);
    EXPECT_DEATH(read(object + 55), report);
    ASSERT_EQ(heap.malloc(50), object);
    EXPECT_EQ(read(object + 55), read(object + 55));
    heap.free(object);
}

TEST_F(HeapUnderAddressSanitizer, LeavesNoPoisonInReturnedMemory) {
    using Source = FreelistHeap<SizeHeap<CountingHeap>>;
    ChunkHeap<4 * KiB, 0, Source> heap;
    auto* const object = static_cast<char*>(heap.malloc(48));
    heap.clear(); // the chunk waits on the list, and is the next one
    auto* const again = static_cast<char*>(heap.malloc(3000));
    EXPECT_EQ(again, object);
    EXPECT_EQ(read(again + 2999), read(again + 2999));
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/combine/strict_seg_heap.hpp>
#include <heapwright/layers/object/checked_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/null_heap.hpp>
#include <heapwright/sizeclass/power_of_two.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

using Lists = StrictSegHeap<PowerOfTwo<10>, FreelistHeap<NullHeap>, SizeHeap<CountingHeapAt<8>>>;
using Checked = CheckedHeap<Lists>;

class CheckedHeapDeathTest : public ::testing::Test {
protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        Ledger::begin();
    }
    Checked heap_;
};

TEST_F(CheckedHeapDeathTest, LetsRightUsePass) {
    void* const object = heap_.malloc(100);
    EXPECT_TRUE(heap_.resize(object, 110));
    EXPECT_GE(heap_.getSize(object), 100U);
    heap_.free(object);
    EXPECT_EQ(heap_.malloc(100), object) << "it is live again";
    heap_.free(object);
}

TEST_F(CheckedHeapDeathTest, DiesOfADoubleFree) {
    void* const object = heap_.malloc(100);
    heap_.free(object);
    EXPECT_EXIT(heap_.free(object), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: free\\(\\): double free\n");
}

TEST_F(CheckedHeapDeathTest, DiesOfAPointerThatIsNoObject) {
    alignas(16) unsigned char memory[64] = {};
    EXPECT_EXIT(heap_.free(memory + 16), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: free\\(\\): invalid pointer\n");
}

TEST_F(CheckedHeapDeathTest, DiesOfAPointerIntoAnObject) {
    auto* const object = static_cast<unsigned char*>(heap_.malloc(100));
    std::memset(object, 0, 100);
    EXPECT_EXIT(heap_.free(object + 1), ::testing::KilledBySignal(SIGABRT), "invalid pointer");
    EXPECT_EXIT(heap_.free(object + 8), ::testing::KilledBySignal(SIGABRT), "invalid pointer");
    EXPECT_EXIT(heap_.free(object + 16), ::testing::KilledBySignal(SIGABRT), "invalid pointer");
    heap_.free(object);
}

TEST_F(CheckedHeapDeathTest, NamesTheRoutineThatWasCalled) {
    void* const object = heap_.malloc(100);
    heap_.free(object);
    EXPECT_EXIT(static_cast<void>(heap_.resize(object, 10)), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: realloc\\(\\): use of a freed object\n");
    EXPECT_EXIT(static_cast<void>(heap_.getSize(object)), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: malloc_usable_size\\(\\): use of a freed object\n");
}

TEST_F(CheckedHeapDeathTest, ChecksForOthers) {
    EXPECT_TRUE(CheckingHeap<Checked>);
    void* const object = heap_.malloc(100);
    heap_.check(object, "free");
    heap_.free(object);
    EXPECT_EXIT(heap_.check(object, "free"), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: free\\(\\): double free\n");
}

} // namespace
} // namespace heapwright::testing

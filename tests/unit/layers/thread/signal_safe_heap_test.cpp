// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/thread/signal_safe_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

/// Calls back into the heap above from inside, as a signal handler would.
class InterruptedHeap : public CountingHeap {
public:
    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        if (interruption != nullptr) {
            void (*const handler)() = interruption;
            interruption = nullptr;
            handler();
        }
        return CountingHeap::malloc(size);
    }
    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return CountingHeap::getSize(object);
    }

    static inline void (*interruption)() = nullptr;
};

using Safe = SignalSafeHeap<InterruptedHeap>;
constinit Safe* heap = nullptr;
void* fromInside = nullptr;
void* toFree = nullptr;

class SignalSafeHeapTest : public ::testing::Test {
protected:
    void SetUp() override {
        Ledger::begin();
        heap = &heap_;
    }
    Safe heap_;
};

TEST_F(SignalSafeHeapTest, ServesFromAsideWhileItIsInside) {
    InterruptedHeap::interruption = [] { fromInside = heap->malloc(100); };
    void* const object = heap_.malloc(50);
    ASSERT_TRUE(object != nullptr && fromInside != nullptr);
    EXPECT_EQ(Ledger::the().live.size(), 1U) << "only one of them is the heap's";
    EXPECT_GE(heap_.getSize(fromInside), 100U);
    std::memset(fromInside, 1, 100);
    heap_.free(fromInside);
    heap_.free(object);
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST_F(SignalSafeHeapTest, DefersAFreeUntilItIsOutside) {
    toFree = heap_.malloc(64);
    InterruptedHeap::interruption = [] {
        heap->free(toFree);
        EXPECT_EQ(Ledger::the().live.size(), 1U) << "not yet";
    };
    void* const object = heap_.malloc(50);
    void* const next = heap_.malloc(50);
    EXPECT_EQ(Ledger::the().live.size(), 2U) << "now";
    heap_.free(object);
    heap_.free(next);
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST_F(SignalSafeHeapTest, WorksOffWhatIsDeferredWhenItIsDestroyed) {
    {
        Safe mortal;
        heap = &mortal;
        toFree = mortal.malloc(64);
        InterruptedHeap::interruption = [] { heap->free(toFree); };
        void* const object = mortal.malloc(50);
        InterruptedHeap::interruption = nullptr;
        EXPECT_EQ(Ledger::the().live.size(), 2U);
        mortal.free(object);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST_F(SignalSafeHeapTest, CountsAsInsideDuringAFork) {
    heap_.beforeFork();
    void* const object = heap_.malloc(10);
    EXPECT_TRUE(Ledger::the().live.empty()) << "the heap below is not entered";
    heap_.afterForkInChild();
    heap_.free(object);
    heap_.free(heap_.malloc(10));
    EXPECT_EQ(Ledger::the().requests, 1U);
}

} // namespace
} // namespace heapwright::testing

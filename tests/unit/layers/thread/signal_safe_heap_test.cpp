// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/thread/signal_safe_heap.hpp>

#include <support/counting_heap.hpp>
#include <support/shown_heap.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

/// Calls back into the heap above from inside, as a signal handler would.
class InterruptedHeap : public CountingHeap {
public:
    static constexpr bool runsAtThreadExit = true;
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

/// Frees objects of known size.
class KnownSizeHeap : public InterruptedHeap {
public:
    void freeKnown(void* object, std::size_t usable) noexcept {
        named = usable;
        InterruptedHeap::free(object);
    }

    static inline std::size_t named = 0;
};

/// Reports the size of an object that it serves at once, and of objects of up to 100 bytes.
class FastHeap : public KnownSizeHeap {
public:
    static constexpr std::size_t mostKnownFast = 100;
    void freeKnownFast(void* object, std::size_t usable) noexcept { freeKnown(object, usable); }
    [[nodiscard]] std::size_t tryGetSizeFast(void* object) noexcept {
        const std::size_t size = getSize(object);
        return size <= 100 ? size : 0;
    }
    [[nodiscard]] void* tryMallocKnown(std::size_t size, std::size_t& usable) noexcept {
        void* const object = malloc(size);
        usable = size;
        return object;
    }
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

TEST_F(SignalSafeHeapTest, ServesFromTheArenaDuringARequest) {
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

TEST_F(SignalSafeHeapTest, ServesFromTheArenaDuringAnExitHookBelow) {
    void* const before = heap_.malloc(64);
    void* object = nullptr;
    {
        const SlowPath::Entry hook;
        object = heap_.malloc(50);
        heap_.free(before);
        EXPECT_EQ(Ledger::the().live.size(), 1U) << "the heap below was not entered";
    }
    ASSERT_NE(object, nullptr);
    heap_.free(object);
    heap_.free(heap_.malloc(64));
    EXPECT_TRUE(Ledger::the().live.empty());
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

TEST_F(SignalSafeHeapTest, PassesTheSizeOfAFreedObjectOn) {
    static_assert(!KnownSizeFreeHeap<Safe>);
    static SignalSafeHeap<KnownSizeHeap> sized;
    InterruptedHeap::interruption = [] { fromInside = sized.malloc(100); };
    void* const object = sized.malloc(50);
    void* const other = sized.malloc(60);
    sized.freeKnown(fromInside, 100);
    EXPECT_EQ(KnownSizeHeap::named, 0U) << "it is the arena's";
    sized.freeKnown(object, 50);
    EXPECT_EQ(KnownSizeHeap::named, 50U);
    toFree = other;
    InterruptedHeap::interruption = [] { sized.freeKnown(toFree, 60); };
    void* const last = sized.malloc(70);
    EXPECT_EQ(Ledger::the().live.size(), 2U) << "the handler's free is deferred";
    sized.freeKnown(last, 70);
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST_F(SignalSafeHeapTest, ServesNoHandlerAtOnce) {
    static_assert(!FastKnownMallocHeap<Safe>);
    static SignalSafeHeap<FastHeap> fast;
    static std::size_t usable = 0;
    InterruptedHeap::interruption = [] {
        EXPECT_EQ(fast.tryMallocKnown(10, usable), nullptr) << "the thread is inside";
    };
    void* const object = fast.tryMallocKnown(50, usable);
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(usable, 50U);
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    {
        const SlowPath::Entry hook;
        EXPECT_EQ(fast.tryMallocKnown(10, usable), nullptr);
    }
    fast.free(object);
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST_F(SignalSafeHeapTest, FreesAnObjectOfItsOwnWhoseSizeItKnowsAtOnce) {
    static_assert(FastKnownFreeHeap<SignalSafeHeap<FastHeap>> && !FastKnownFreeHeap<Safe>);
    static SignalSafeHeap<FastHeap> fast;
    InterruptedHeap::interruption = [] { fromInside = fast.malloc(10); };
    void* const object = fast.malloc(50);
    EXPECT_EQ(fast.tryGetSizeFast(fromInside), 0U) << "it is the arena's";
    fast.free(fromInside);
    EXPECT_EQ(fast.tryGetSizeFast(object), 50U);
    KnownSizeHeap::named = 0;
    {
        const SlowPath::Entry hook;
        fast.freeKnownFast(object, 50);
        EXPECT_EQ(KnownSizeHeap::named, 0U) << "the free is deferred";
    }
    void* const other = fast.malloc(60);
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    fast.freeKnownFast(other, 60);
    EXPECT_EQ(KnownSizeHeap::named, 60U);
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST_F(SignalSafeHeapTest, DestructorDrainsDeferredFrees) {
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

using Shown = SignalSafeHeap<ShownHeap>;
static_assert(InspectableHeap<Shown> && WalkableHeap<Shown> && PurgeableHeap<Shown>);
static_assert(!InspectableHeap<Safe> && !WalkableHeap<Safe> && !PurgeableHeap<Safe>);

class SignalSafeHeapWithDeferredWorkTest : public ::testing::Test {
protected:
    SignalSafeHeapWithDeferredWorkTest() {
        Ledger::begin();
        done = 0;
        DeferredWork::setWorker([](DeferredWork::Set chores) noexcept {
            done |= chores;
            free(shown_.malloc(16)); // it is not inside while it does them
        });
    }
    ~SignalSafeHeapWithDeferredWorkTest() override { DeferredWork::setWorker(nullptr); }

    static void free(void* object) { shown_.free(object); }

    static inline DeferredWork::Set done = 0;
    static inline Shown shown_;
};

TEST_F(SignalSafeHeapWithDeferredWorkTest, NextAllocationRunsTheDeferredWork) {
    DeferredWork::ask(2);
    void* const object = shown_.malloc(64);
    EXPECT_EQ(done, 2U);
    DeferredWork::ask(4);
    shown_.free(object);
    EXPECT_EQ(done, 2U) << "the C library frees under a lock that the work may need";
    shown_.free(shown_.malloc(64));
    EXPECT_EQ(done, 6U);
    EXPECT_FALSE(DeferredWork::due());
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST_F(SignalSafeHeapWithDeferredWorkTest, PurgesTheHeapBelowExceptDuringARequest) {
    const std::uint32_t before = ShownHeap::tended;
    EXPECT_EQ(shown_.purgeExpired(), before + 1);
    shown_.beforeFork();
    EXPECT_EQ(shown_.purgeExpired(), 0U);
    EXPECT_EQ(ShownHeap::tended, before + 1);
    void* const aside = shown_.malloc(64); // from the arena: a thread that still holds it may not
                                           // enter
    EXPECT_TRUE(walked(shown_).empty());
    shown_.free(aside);
    shown_.afterForkInParent();
}

} // namespace
} // namespace heapwright::testing

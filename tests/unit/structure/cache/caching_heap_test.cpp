// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/sizeclass/exact.hpp>
#include <heapwright/structure/cache/caching_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

namespace heapwright::testing {
namespace {

/// Keeps one object, and marks it as waiting.
class OneKept : public CachingHeap<OneKept, Exact<4>, SizeHeap<ZeroingCountingHeap>> {
public:
    static constexpr std::size_t alignment = minAlignment;

    ~OneKept() { flushMine(); }

    void* malloc(std::size_t size) noexcept {
        void* const object = tryMallocFast(size);
        return object != nullptr
                   ? object
                   : orAfterFlush([this, size] { return below().malloc(rounded(size)); });
    }
    void* mallocHeld(std::size_t size) noexcept {
        void* const object = tryMallocFast(size);
        return object != nullptr ? object : heldBelow(size);
    }
    void* tryMallocFast(std::size_t size) noexcept {
        if (kept_ == nullptr || Raised::classFor(size) != class_) {
            return nullptr;
        }
        CachedObject::wake(kept_, Exact<4>::sizeOf(class_));
        return std::exchange(kept_, nullptr);
    }
    bool tryFreeFast(void* object) noexcept {
        const std::size_t index = classOfLive(object, "free");
        if (kept_ != nullptr || !Waiting::has(index)) {
            return false;
        }
        kept_ = CachedObject::make(object, nullptr, secret_.get(), Exact<4>::sizeOf(index));
        class_ = index;
        return true;
    }
    static void freeBelow(void* object, OneKept& heap) noexcept { heap.below().free(object); }
    bool flushMine() noexcept {
        if (kept_ == nullptr) {
            return false;
        }
        CachedObject::wake(kept_, Exact<4>::sizeOf(class_));
        below().free(std::exchange(kept_, nullptr));
        return true;
    }

private:
    ObjectLink* kept_ = nullptr;
    std::size_t class_ = 0;
};

TEST(CachingHeap, ZeroesCachedObjects) {
    Ledger::begin();
    {
        OneKept heap;
        void* const object = heap.malloc(40);
        std::memset(object, 0x77, 40);
        heap.free(object);
        auto* const again = static_cast<unsigned char*>(heap.zalloc(40));
        EXPECT_EQ(again, object);
        for (std::size_t i = 0; i < 40; ++i) {
            ASSERT_EQ(again[i], 0) << i;
        }
        auto* const fresh = static_cast<unsigned char*>(heap.zalloc(24));
        for (std::size_t i = 0; i < 24; ++i) {
            ASSERT_EQ(fresh[i], 0) << i;
        }
        heap.free(again);
        heap.free(fresh); // there is no room for it: it goes below
        EXPECT_EQ(Ledger::the().live.size(), 1U);
        EXPECT_TRUE(heap.flush());
        EXPECT_FALSE(heap.flush());
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(CachingHeap, ReturnsCachedObjectsWhenTheHeapBelowReturnsNull) {
    Ledger::begin();
    {
        OneKept heap;
        heap.free(heap.malloc(24));
        Ledger::the().refuse = 2;
        void* const object = heap.zalloc(56);
        EXPECT_NE(object, nullptr) << "at the second try";
        EXPECT_EQ(Ledger::the().live.size(), 1U);
        Ledger::the().refuse = Ledger::all;
        EXPECT_EQ(heap.zalloc(24), nullptr);
        EXPECT_EQ(heap.malloc(24), nullptr);
        EXPECT_EQ(heap.mallocHeld(24), nullptr) << "nor is anything held";
        heap.free(object);
        EXPECT_EQ(heap.mallocHeld(56), object);
        heap.free(object);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(CachingHeap, RoundsUpSoThatAnyObjectOfAClassServesAll) {
    Ledger::begin();
    OneKept heap;
    void* const small = heap.malloc(25);
    EXPECT_GE(heap.getSize(small), 40U);
    EXPECT_GE(heap.getSizeUnlocked(small), 40U);
    void* const large = heap.malloc(5000);
    EXPECT_GE(heap.getSize(large), 5000U);
    heap.free(small);
    heap.free(large);
}

TEST(CachingHeapDeathTest, DetectsAUseOfACachedObject) {
    Ledger::begin();
    OneKept heap;
    void* const object = heap.malloc(24);
    heap.free(object);
    EXPECT_DEATH(heap.free(object), "free\\(\\): double free");
    EXPECT_DEATH((void)heap.getSize(object), "malloc_usable_size\\(\\): use of a freed object");
}

template <class H>
concept Trims = requires(H heap) { heap.trim(0); };
template <class H>
concept Resizes = requires(H heap, void* object) { heap.resize(object, 1); };

TEST(CachingHeap, OffersNoMoreThanTheHeapBelow) {
    EXPECT_FALSE(Trims<OneKept>);
    EXPECT_FALSE(Resizes<OneKept>);
    EXPECT_FALSE(AlignedHeap<OneKept>);
    EXPECT_FALSE(OwningHeap<OneKept>);
    EXPECT_TRUE(ZeroingHeap<OneKept>);
    EXPECT_TRUE(FlushableHeap<OneKept>);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/bulk.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

struct Least {
    static constexpr std::size_t alignment = 16;
    void* malloc(std::size_t) noexcept { return nullptr; }
    void free(void*) {}
};

struct Holding : Least {
    void* mallocHeld(std::size_t) { return nullptr; }
};

struct Rich : Holding {
    void* memalign(std::size_t, std::size_t) { return nullptr; }
    void* memalignHeld(std::size_t, std::size_t) { return nullptr; }
    bool tryRetain(void*) { return false; }
    void* mallocArea(std::size_t, std::size_t&) { return nullptr; }
    ObjectLink* mallocBatch(std::size_t, std::size_t) { return nullptr; }
    void freeBatch(ObjectLink*) {}
    bool flush() { return false; }
    bool trim(std::size_t) { return false; }
    std::uint32_t purgeExpired() { return 0; }
};

/// Takes a batch back but gives none out.
struct OneWay : Least {
    void freeBatch(ObjectLink*) {}
};

TEST(Bulk, ConceptsDependOnTheVerbs) {
    EXPECT_TRUE(HoldingHeap<Holding>);
    EXPECT_FALSE(RetainingHeap<Holding> || AlignedHoldingHeap<Holding>);
    EXPECT_TRUE(RetainingHeap<Rich> && AlignedHoldingHeap<Rich> && AreaHeap<Rich>);
    EXPECT_TRUE(BatchingHeap<Rich> && FlushableHeap<Rich> && TrimmableHeap<Rich>);
    EXPECT_TRUE(PurgeableHeap<Rich>);
    EXPECT_FALSE(FlushableHeap<Least> || TrimmableHeap<Least> || PurgeableHeap<Least>);
    EXPECT_FALSE(HoldingHeap<Least> || AreaHeap<Least>);
}

TEST(Bulk, NeedsBothVerbsOfABatch) {
    EXPECT_FALSE(BatchingHeap<OneWay>);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/cache/fast_path.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

struct Least {
    static constexpr std::size_t alignment = 16;
    void* malloc(std::size_t) noexcept { return nullptr; }
    void free(void*) {}
};

struct Fast : Least {
    void* tryMallocFast(std::size_t) { return nullptr; }
    bool tryFreeFast(void*) { return false; }
};

struct Known : Least {
    std::size_t getSize(void*) { return 0; }
    void* tryMallocKnown(std::size_t, std::size_t&) { return nullptr; }
    void* mallocAtOnce(std::size_t) { return nullptr; }
    std::size_t tryGetSizeFast(void*) { return 0; }
    static constexpr std::size_t mostKnownFast = 64;
    void freeKnownFast(void*, std::size_t) {}
};

struct Split : Fast {
    static constexpr bool splitPath = true;
    void* mallocSlow(std::size_t) { return nullptr; }
    void freeSlow(void*) {}
    bool freeAmongOthers(void*) { return false; }
};

struct Suspendable : Split {
    struct ThreadState {};
    static constexpr std::size_t unitBytes = 4096;
    static ThreadState& threadState() {
        static ThreadState state;
        return state;
    }
};

struct Notified : Least {
    struct BeforeHandler {};
    static bool inRequest() { return false; }
    static void afterHandler(const BeforeHandler&) {}
};

struct Tagged : Least {
    static constexpr std::size_t unitBytes = 4096;
    std::uint64_t ownerTagOf(const void*) { return 0; }
    bool hasOwnerTag(const void*) { return false; }
    bool mayCache(const void*) { return false; }
    ObjectLink* mallocOwned(std::size_t, std::size_t&, ObjectLink*) { return nullptr; }
    ObjectLink* freeOwned(ObjectLink*, std::size_t, ObjectLink*) { return nullptr; }
    void releaseOwnership() {}
    bool adopt(const void*) { return false; }
    void sendOwned(ObjectLink*, std::size_t) {}
    ObjectLink* collectSent() { return nullptr; }
    bool earnsOwnerTag() { return true; }
    std::uint64_t ownerTagOfThread() { return 0; }
    std::size_t classAt(const void*) { return 0; }
};

TEST(FastPath, ConceptsDependOnTheVerbs) {
    EXPECT_TRUE(FastPathHeap<Fast>);
    EXPECT_FALSE(FastPathHeap<Least> || SplitPathHeap<Fast> || SharedUnitCachingHeap<Fast>);
    EXPECT_TRUE(FastKnownMallocHeap<Known> && AtOnceHeap<Known>);
    EXPECT_TRUE(FastSizeHeap<Known> && FastKnownFreeHeap<Known>);
    EXPECT_FALSE(FastKnownMallocHeap<Fast> || AtOnceHeap<Fast> || FastKnownFreeHeap<Fast>);
    EXPECT_TRUE(SplitPathHeap<Split> && SharedUnitCachingHeap<Split>);
    EXPECT_FALSE(SuspendableHeap<Split>);
    EXPECT_TRUE(SuspendableHeap<Suspendable>);
    EXPECT_TRUE(HandlerNotifiedHeap<Notified>);
    EXPECT_FALSE(HandlerNotifiedHeap<Least>);
}

TEST(FastPath, OwnerTagsNeedEveryVerb) {
    EXPECT_TRUE(OwnerTaggedHeap<Tagged>);
    EXPECT_FALSE(OwnerTaggedHeap<Least>);
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/concepts.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

struct Least {
    static constexpr std::size_t alignment = 16;
    void* malloc(std::size_t) noexcept { return nullptr; }
    void free(void*) {}
};

struct Sized : Least {
    std::size_t getSize(void*) { return 0; }
};

struct Core : Sized {
    void* memalign(std::size_t, std::size_t) { return nullptr; }
    bool resize(void*, std::size_t) { return false; }
    void clear() {}
};

struct Throwing : Least {
    void* malloc(std::size_t) { throw 1; }
};

struct WrongResult : Least {
    int getSize(void*) { return 0; }
    int clear() { return 0; }
};

TEST(Concepts, TakeTheLeastHeap) {
    EXPECT_TRUE(Heap<Least>);
    EXPECT_FALSE(Heap<int>);
    EXPECT_FALSE(Heap<Throwing>) << "a heap returns null";
}

TEST(Concepts, CapabilityIsThePresenceOfAVerb) {
    EXPECT_FALSE(SizedHeap<Least>);
    EXPECT_TRUE(SizedHeap<Sized>);
    EXPECT_FALSE(ClearableHeap<Sized> || AlignedHeap<Sized> || ResizableHeap<Sized>);
    EXPECT_TRUE(SizedHeap<Core> && ClearableHeap<Core> && AlignedHeap<Core> && ResizableHeap<Core>);
}

TEST(Concepts, RefuseAVerbWithAnotherResult) {
    EXPECT_TRUE(Heap<WrongResult>);
    EXPECT_FALSE(SizedHeap<WrongResult> || ClearableHeap<WrongResult>);
}

} // namespace
} // namespace heapwright::testing

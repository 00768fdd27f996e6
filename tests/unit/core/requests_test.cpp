// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/requests.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

struct Least {
    static constexpr std::size_t alignment = 16;
    void* malloc(std::size_t) noexcept { return nullptr; }
    void free(void*) {}
};

struct Rich : Least {
    using Least::free;
    using Least::malloc;
    void* malloc(std::size_t, void (*)(void*)) { return nullptr; }
    void* zalloc(std::size_t) { return nullptr; }
    void* relocate(void*, std::size_t) { return nullptr; }
    void* mallocAt(std::size_t, std::size_t, std::size_t) { return nullptr; }
    void free(void*, std::size_t) {}
    std::size_t getSize(void*) { return 0; }
    void freeKnown(void*, std::size_t) {}
};

TEST(Requests, ConceptsDependOnTheVerbs) {
    EXPECT_TRUE(ZeroingHeap<Rich> && RelocatingHeap<Rich> && PhaseAlignedHeap<Rich>);
    EXPECT_TRUE(SizedFreeHeap<Rich> && RecyclingHeap<Rich> && KnownSizeFreeHeap<Rich>);
    EXPECT_FALSE(ZeroingHeap<Least> || RelocatingHeap<Least> || PhaseAlignedHeap<Least>);
    EXPECT_FALSE(KnownSizeFreeHeap<Least>);
    EXPECT_FALSE(SizedFreeHeap<Least> || RecyclingHeap<Least>) << "an overload is one more verb";
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/traits.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

struct Least {
    static constexpr std::size_t alignment = 16;
    void* malloc(std::size_t) noexcept { return nullptr; }
    void free(void*) {}
};

struct Phased : Least {
    static constexpr std::size_t alignmentOffset = 8;
    static constexpr std::size_t leastObject = 32;
    static constexpr std::size_t blockSize = 4096;
    static constexpr std::size_t unitBytes = 8192;
};

struct SharedByThreads : Least {
    static constexpr bool concurrent = true;
    static constexpr bool acceptsForeignObjects = false;
};

struct OneSize : Least {
    static constexpr bool uniform = true;
    static constexpr bool stackDiscipline = true;
    using Below = Heaps<>;
};

struct OnOneSize : Least {
    using Below = Heaps<Least, OneSize>;
};

struct AnySizeOnOneSize : OnOneSize {
    static constexpr bool uniform = false;
};

struct Stating : Least {
    static constexpr bool memoryless = true;
    static constexpr bool processLocal = true;
    static constexpr bool contiguous = true;
    static constexpr bool mapsRegions = true;
    static constexpr bool tagged = true;
    static constexpr bool cacheOnly = true;
};

struct Holding : Stating {
    void* mallocHeld(std::size_t /*size*/) noexcept { return nullptr; }
};

struct Face : Least {
    static constexpr bool unique = true;
    static Least& theHeap() {
        static Least heap;
        return heap;
    }
};

TEST(Traits, TakeAnAbsentConstantForItsDefault) {
    EXPECT_EQ(alignmentOffsetOf<Least>, 0U);
    EXPECT_EQ(alignmentOffsetOf<Phased>, 8U);
    EXPECT_EQ(leastObjectOf<Least>, sizeof(void*));
    EXPECT_EQ(leastObjectOf<Phased>, 32U);
    EXPECT_EQ(blockSizeOf<Least>, 0U);
    EXPECT_EQ(blockSizeOf<Phased>, 4096U);
    EXPECT_EQ(unitBytesOf<Least>, 0U);
    EXPECT_EQ(unitBytesOf<Phased>, 8192U);
    EXPECT_TRUE(MaxAlignedHeap<Least>);
    EXPECT_FALSE(MaxAlignedHeap<Phased>);
}

TEST(Traits, ReadStatementsOfTheHeap) {
    EXPECT_TRUE(ConcurrentHeap<SharedByThreads>);
    EXPECT_FALSE(ForeignFreeHeap<SharedByThreads>) << "it states no";
    EXPECT_FALSE(ConcurrentHeap<Least> || ForeignFreeHeap<Least> || UniquelyNamedHeap<Least>);
    EXPECT_TRUE(MemorylessHeap<Stating> && ProcessLocalHeap<Stating> && ContiguousHeap<Stating>);
    EXPECT_TRUE(RegionMappingHeap<Stating> && TagPreservingHeap<Stating>);
    EXPECT_TRUE(CacheOnlyHeap<Holding>);
    EXPECT_FALSE(CacheOnlyHeap<Stating>) << "it has no mallocHeld";
    EXPECT_FALSE(MemorylessHeap<Least> || ProcessLocalHeap<Least> || ContiguousHeap<Least>);
    EXPECT_FALSE(RegionMappingHeap<Least> || TagPreservingHeap<Least>);
    EXPECT_TRUE(FaceHeap<Face>);
    EXPECT_FALSE(FaceHeap<Least>);
}

TEST(Traits, FindUniformAndStackInTheHeapsBelow) {
    EXPECT_TRUE(uniformHeap<OneSize> && uniformHeap<OnOneSize> && stackHeap<OnOneSize>);
    EXPECT_FALSE(uniformHeap<AnySizeOnOneSize>);
    EXPECT_TRUE(stackHeap<AnySizeOnOneSize>);
    EXPECT_TRUE(AnySizeHeap<AnySizeOnOneSize> && AnyOrderHeap<Least>);
    EXPECT_FALSE(AnySizeHeap<OnOneSize> || AnyOrderHeap<OnOneSize>);
}

} // namespace
} // namespace heapwright::testing

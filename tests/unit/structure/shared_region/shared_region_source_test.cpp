// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/shared_region/shared_region_memory.hpp>
#include <heapwright/structure/shared_region/shared_region_source.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

namespace heapwright::testing {
namespace {

/// Memory of which is known how often it was opened and closed, and that may be none.
struct Watched {
    static inline int opened = 0;
    static inline int closed = 0;
    static inline bool refuse = false;

    static OpenRegion open(RegionRequest wish) noexcept {
        ++opened;
        return refuse ? OpenRegion{} : SharedMemory<64 * KiB>::open(wish);
    }
    static void finish(OpenRegion open) noexcept { SharedMemory<64 * KiB>::finish(open); }
    static void close(OpenRegion open) noexcept {
        ++closed;
        SharedMemory<64 * KiB>::close(open);
    }
};

class Source : public SharedRegionSource<Source, Watched> {
public:
    static constexpr std::string_view caption = "watched";
    using Below = Heaps<>;
};

class SharedRegionSourceTest : public ::testing::Test {
protected:
    void SetUp() override {
        Watched::opened = Watched::closed = 0;
        Watched::refuse = false;
    }
};

TEST_F(SharedRegionSourceTest, OpensARegionOnTheFirstRequestAndClosesIt) {
    {
        Source source;
        MemoryUsage usage;
        source.measure(usage);
        EXPECT_EQ(usage.mapped, 0U);
        EXPECT_FALSE(source.owns(&source));
        source.clear();
        EXPECT_EQ(Watched::opened, 0);
        void* const object = source.malloc(100);
        ASSERT_NE(object, nullptr);
        EXPECT_TRUE(source.owns(object));
        EXPECT_NE(source.zalloc(100), nullptr);
        EXPECT_EQ(Watched::opened, 1);
        source.measure(usage);
        EXPECT_EQ(usage.mapped, 64 * KiB);
        EXPECT_EQ(Watched::closed, 0);
    }
    EXPECT_EQ(Watched::closed, 1);
}

TEST_F(SharedRegionSourceTest, ReturnsNullWithoutARegion) {
    Watched::refuse = true;
    Source source;
    EXPECT_EQ(source.malloc(1), nullptr);
    EXPECT_EQ(source.zalloc(1), nullptr);
    EXPECT_EQ(source.memalign(64, 1), nullptr);
    Watched::refuse = false;
    EXPECT_NE(source.malloc(1), nullptr);
    EXPECT_EQ(source.malloc(SIZE_MAX), nullptr);
}

TEST_F(SharedRegionSourceTest, ServesFromTheRegionThatContainsIt) {
    const OpenRegion open = Watched::open({});
    {
        RegionUnderConstruction::mine() = open.region;
        Source source;
        RegionUnderConstruction::mine() = nullptr;
        void* const object = source.malloc(100);
        EXPECT_TRUE(open.region->bump.owns(open.region->memory(), object));
        EXPECT_EQ(Watched::opened, 1) << "no other";
    }
    EXPECT_EQ(Watched::closed, 0) << "it is not the source's to close";
    Watched::close(open);
}

TEST_F(SharedRegionSourceTest, ConstinitSourceOpensItsOwnRegion) {
    static constinit Source source;
    EXPECT_NE(source.malloc(10), nullptr);
    EXPECT_EQ(Watched::opened, 1);
}

} // namespace
} // namespace heapwright::testing

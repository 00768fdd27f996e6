// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/object/mapped_objects.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace heapwright::testing {
namespace {

/// Pages of four times the system's, with a record of the requests, which may fail.
struct WidePages {
    static inline std::size_t length = 0;
    static inline std::size_t align = 0;
    static inline std::size_t alignmentOffset = 0;
    static inline int moves = 0;
    static inline bool refuse = false;

    static std::size_t size() noexcept { return 4 * platform::pageSize(); }
    static void* map(std::size_t bytes, std::size_t alignment, std::size_t remainder) noexcept {
        length = bytes;
        align = alignment;
        alignmentOffset = remainder;
        return refuse ? nullptr : platform::mapPagesAt(bytes, alignment, remainder);
    }
    static void* move(void* start, std::size_t bytes, std::size_t newBytes) noexcept {
        ++moves;
        void* const target = refuse ? nullptr : platform::mapPagesAt(newBytes, size(), 0);
        if (target != nullptr) {
            std::memcpy(target, start, bytes < newBytes ? bytes : newBytes);
            platform::unmapPages(start, bytes);
        }
        return target;
    }
};

class MappedObjectsTest : public ::testing::Test {
protected:
    void SetUp() override {
        WidePages::moves = 0;
        WidePages::refuse = false;
    }

    std::size_t mapped() const {
        MemoryUsage usage;
        objects.measure(usage);
        return usage.mapped;
    }

    const std::size_t page = WidePages::size();
    MappedObjects<WidePages> objects;
};

TEST_F(MappedObjectsTest, AskForWholePages) {
    void* const object = objects.malloc(page - 24);
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(WidePages::length, page);
    EXPECT_EQ(WidePages::align, page);
    EXPECT_EQ(WidePages::alignmentOffset, 0U);
    EXPECT_EQ(addressOf(object) % page, 16U);
    EXPECT_EQ(objects.getSize(object), page - 24);
    EXPECT_TRUE(Tag::of(object).has(Flag::direct));
    EXPECT_EQ(mapped(), page);
    void* const larger = objects.zalloc(page - 23);
    EXPECT_EQ(WidePages::length, 2 * page);
    EXPECT_EQ(static_cast<unsigned char*>(larger)[page - 24], 0);
    objects.free(object);
    objects.free(larger);
    EXPECT_EQ(mapped(), 0U);
}

TEST_F(MappedObjectsTest, StandAtTheirAlignmentInTheFirstPageOrAtItsEnd) {
    for (std::size_t align = 1; align <= 8 * page; align *= 2) {
        void* const object = objects.memalign(align, 1);
        ASSERT_NE(object, nullptr);
        EXPECT_EQ(addressOf(object) % align, 0U);
        EXPECT_EQ(WidePages::align, align <= page ? page : align);
        EXPECT_EQ(WidePages::alignmentOffset, align <= page ? 0 : align - page);
        EXPECT_EQ(WidePages::length, align < page ? page : 2 * page);
        std::memset(object, 1, objects.getSize(object));
        objects.free(object);
        EXPECT_EQ(mapped(), 0U) << align;
    }
}

TEST_F(MappedObjectsTest, ShrinkInPlaceAndMoveWithTheirContents) {
    auto* object = static_cast<unsigned char*>(objects.memalign(64, 3 * page));
    object[0] = 7;
    EXPECT_TRUE(objects.resize(object, page));
    EXPECT_EQ(mapped(), 2 * page);
    object[page - 1] = 8;
    object = static_cast<unsigned char*>(objects.relocate(object, 5 * page));
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(WidePages::moves, 1);
    EXPECT_EQ(addressOf(object) % page, 64U);
    EXPECT_EQ(object[0], 7);
    EXPECT_EQ(object[page - 1], 8);
    EXPECT_EQ(mapped(), 6 * page);
    EXPECT_GE(objects.getSize(object), 5 * page);
    objects.free(object);
    EXPECT_EQ(mapped(), 0U);
}

TEST_F(MappedObjectsTest, StayWhereAnAlignmentWouldBeLost) {
    void* const object = objects.memalign(2 * page, 1);
    EXPECT_EQ(objects.relocate(object, 5 * page), nullptr);
    EXPECT_EQ(WidePages::moves, 0);
    objects.free(object);
}

TEST_F(MappedObjectsTest, StayUnchangedWhenTheSystemRefuses) {
    auto* const object = static_cast<unsigned char*>(objects.malloc(100));
    object[99] = 9;
    WidePages::refuse = true;
    EXPECT_EQ(objects.malloc(1), nullptr);
    EXPECT_EQ(objects.memalign(2 * page, 1), nullptr);
    EXPECT_EQ(objects.relocate(object, 5 * page), nullptr);
    WidePages::refuse = false;
    for (const std::size_t size : {SIZE_MAX, SIZE_MAX - page}) {
        EXPECT_EQ(objects.malloc(size), nullptr);
        EXPECT_EQ(objects.memalign(page, size), nullptr);
        EXPECT_EQ(objects.relocate(object, size), nullptr);
        EXPECT_FALSE(objects.resize(object, size));
    }
    EXPECT_EQ(WidePages::moves, 1) << "none for a size that there is not";
    EXPECT_EQ(object[99], 9);
    EXPECT_EQ(objects.getSize(object), page - 24);
    EXPECT_EQ(mapped(), page);
    objects.free(object);
}

} // namespace
} // namespace heapwright::testing

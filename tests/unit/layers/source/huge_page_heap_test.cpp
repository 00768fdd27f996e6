// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/source/huge_page_heap.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace heapwright::testing {
namespace {

template <class P>
class HugePageHeapOf : public ::testing::Test {
protected:
    HugePageHeap<P> heap_;
    std::size_t huge_ = platform::hugePageSize();

    std::size_t mapped() const {
        MemoryUsage usage;
        heap_.measure(usage);
        return usage.mapped;
    }
};
using Ways = ::testing::Types<platform::AdvisedHugePages, platform::ReservedHugePages>;
TYPED_TEST_SUITE(HugePageHeapOf, Ways);

TYPED_TEST(HugePageHeapOf, MapsAndUnmapsWholeHugePages) {
    void* const object = this->heap_.malloc(1);
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(addressOf(object) % this->huge_, 16U);
    EXPECT_EQ(this->mapped(), this->huge_);
    EXPECT_EQ(this->heap_.getSize(object), this->huge_ - 24);
    EXPECT_TRUE(Tag::of(object).has(Flag::direct));
    std::memset(object, 1, this->huge_ - 24);
    this->heap_.free(object);
    EXPECT_EQ(this->mapped(), 0U);
}

TYPED_TEST(HugePageHeapOf, AChunkOfAHugePageFitsInOne) {
    void* const object = this->heap_.malloc(this->huge_ - 32); // what a ChunkHeap asks for
    EXPECT_EQ(this->mapped(), this->huge_);
    this->heap_.free(object);
}

TYPED_TEST(HugePageHeapOf, FindsTheMappingOfAnyAlignment) {
    for (std::size_t align = 1; align <= 4 * this->huge_; align *= 2) {
        for (const std::size_t size : {std::size_t{1}, this->huge_ - 24}) {
            void* const object = this->heap_.memalign(align, size);
            ASSERT_NE(object, nullptr);
            EXPECT_EQ(addressOf(object) % align, 0U);
            EXPECT_GE(this->heap_.getSize(object), size);
            static_cast<unsigned char*>(object)[this->heap_.getSize(object) - 1] = 1;
            this->heap_.free(object);
            EXPECT_EQ(this->mapped(), 0U) << align;
        }
    }
}

TYPED_TEST(HugePageHeapOf, RelocatesWithTheContentsOntoHugePages) {
    auto* object = static_cast<unsigned char*>(this->heap_.malloc(100));
    std::memset(object, 5, 100);
    auto* const moved = static_cast<unsigned char*>(this->heap_.relocate(object, 3 * this->huge_));
    if (moved != nullptr) { // older systems move no reserved pages
        object = moved;
        EXPECT_EQ(addressOf(object) % this->huge_, 16U);
        EXPECT_EQ(this->mapped(), 4 * this->huge_);
        EXPECT_EQ(object[3 * this->huge_ - 1], 0);
    }
    EXPECT_EQ(object[99], 5);
    EXPECT_EQ(this->heap_.relocate(object, 100), this->mapped() > this->huge_ ? nullptr : object);
    this->heap_.free(object);
    EXPECT_EQ(this->mapped(), 0U);
}

TYPED_TEST(HugePageHeapOf, ShrinksInPlaceAndGrowsWhereThereIsRoom) {
    auto* const object = static_cast<unsigned char*>(this->heap_.malloc(2 * this->huge_));
    object[0] = 9;
    if (this->heap_.resize(object, 100)) { // older systems cut no reserved pages
        EXPECT_EQ(this->mapped(), this->huge_);
    }
    if (this->heap_.resize(object, 2 * this->huge_)) {
        object[2 * this->huge_ - 1] = 1;
    }
    EXPECT_EQ(object[0], 9);
    EXPECT_TRUE(this->heap_.resize(object, 50));
    this->heap_.free(object);
    EXPECT_EQ(this->mapped(), 0U);
}

TYPED_TEST(HugePageHeapOf, RefusesUnmappableSizesAndKeepsErrno) {
    errno = EINTR;
    EXPECT_EQ(this->heap_.malloc(std::size_t{1} << 60U), nullptr);
    EXPECT_EQ(this->heap_.malloc(SIZE_MAX), nullptr);
    EXPECT_EQ(this->heap_.memalign(4 * this->huge_, SIZE_MAX - 4096), nullptr);
    void* const object = this->heap_.malloc(10);
    EXPECT_FALSE(this->heap_.resize(object, SIZE_MAX));
    EXPECT_EQ(this->heap_.relocate(object, std::size_t{1} << 60U), nullptr);
    this->heap_.free(object);
    EXPECT_EQ(errno, EINTR);
}

} // namespace
} // namespace heapwright::testing

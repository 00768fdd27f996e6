// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/area/bump.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace heapwright::testing {
namespace {

class BumpTest : public ::testing::Test {
protected:
    alignas(512) std::array<unsigned char, 1024> memory_{};
    Stretch all_{addressOf(memory_.data()), sizeof memory_};
    Bump bump_;
};

TEST_F(BumpTest, LaysObjectsEndToEndOnMultiplesOf16) {
    void* const first = bump_.malloc(all_, 1);
    void* const second = bump_.malloc(all_, 24);
    void* const third = bump_.malloc(all_, 25);
    EXPECT_EQ(first, memory_.data() + 16);
    EXPECT_EQ(second, memory_.data() + 32);
    EXPECT_EQ(third, memory_.data() + 64);
    EXPECT_EQ(Tag::of(second).size() - Tag::bytes, 24U);
}

TEST_F(BumpTest, TheWholeStretchCanBeOneObject) {
    EXPECT_EQ(bump_.malloc(all_, sizeof memory_ - 24 + 1), nullptr);
    void* const object = bump_.malloc(all_, sizeof memory_ - 24);
    ASSERT_NE(object, nullptr);
    std::memset(object, 1, sizeof memory_ - 24);
    EXPECT_EQ(bump_.used(), sizeof memory_) << "with the place of the next tag";
    EXPECT_EQ(bump_.malloc(all_, 1), nullptr);
}

TEST_F(BumpTest, RefusesSizesThatOverflow) {
    EXPECT_EQ(bump_.malloc(all_, SIZE_MAX), nullptr);
    EXPECT_EQ(bump_.malloc(all_, SIZE_MAX - 8), nullptr);
    EXPECT_EQ(bump_.zalloc(all_, SIZE_MAX - 24), nullptr);
    EXPECT_EQ(bump_.memalign(all_, std::size_t{1} << 63U, 1), nullptr);
    EXPECT_EQ(bump_.memalign(all_, 4096, SIZE_MAX), nullptr);
    void* const object = bump_.malloc(all_, 1);
    EXPECT_FALSE(bump_.resize(all_, object, SIZE_MAX));
    EXPECT_EQ(bump_.used(), 32U);
}

TEST_F(BumpTest, TheLastOneFreedMovesBack) {
    void* const first = bump_.malloc(all_, 100);
    void* const second = bump_.malloc(all_, 100);
    void* const third = bump_.malloc(all_, 100);
    bump_.free(all_, third);
    EXPECT_EQ(bump_.malloc(all_, 50), third);
    bump_.free(all_, second); // in the middle: waits
    EXPECT_NE(bump_.malloc(all_, 50), second);
    EXPECT_TRUE(bump_.owns(all_, first));
}

TEST_F(BumpTest, BeginsAnewWhenNothingIsLive) {
    void* const first = bump_.malloc(all_, 100);
    void* const second = bump_.malloc(all_, 100);
    bump_.free(all_, first);
    bump_.free(all_, second);
    EXPECT_EQ(bump_.malloc(all_, 10), first);
}

TEST_F(BumpTest, AlignsWithinTheStretch) {
    void* const aligned = bump_.memalign(all_, 256, 10);
    ASSERT_NE(aligned, nullptr);
    EXPECT_EQ(addressOf(aligned) % 256, 0U);
    EXPECT_FALSE(bump_.owns(all_, memory_.data() + sizeof memory_ - 1));
    EXPECT_TRUE(bump_.owns(all_, aligned));
    EXPECT_EQ(bump_.memalign(all_, 512, 600), nullptr);
}

TEST_F(BumpTest, ZeroIsClearedOnlyWhereItWasUsed) {
    auto* first = static_cast<unsigned char*>(bump_.malloc(all_, 100));
    std::memset(first, 0xFF, 104);
    bump_.free(all_, first);
    memory_[400] = 7; // no caller ever got this byte, so no caller may expect it to be cleared
    first = static_cast<unsigned char*>(bump_.zalloc(all_, 500));
    ASSERT_NE(first, nullptr);
    for (std::size_t i = 0; i < 500; ++i) {
        ASSERT_EQ(first[i], first + i == memory_.data() + 400 ? 7 : 0) << i;
    }
}

TEST_F(BumpTest, TheLastOneGrowsWithZeroBytes) {
    void* const first = bump_.malloc(all_, 100);
    auto* const second = static_cast<unsigned char*>(bump_.malloc(all_, 400));
    std::memset(second, 0xFF, 400);
    EXPECT_TRUE(bump_.resize(all_, second, 40));
    EXPECT_EQ(Tag::of(second).size() - Tag::bytes, 40U);
    EXPECT_TRUE(bump_.resize(all_, second, 500));
    EXPECT_EQ(second[39], 0xFF);
    for (std::size_t i = 40; i < 500; ++i) {
        ASSERT_EQ(second[i], 0) << i;
    }
    EXPECT_FALSE(bump_.resize(all_, second, 1000));
    EXPECT_FALSE(bump_.resize(all_, first, 200)) << "it is not the last";
    EXPECT_TRUE(bump_.resize(all_, first, 10));
    EXPECT_EQ(Tag::of(first).size() - Tag::bytes, 104U);
}

TEST_F(BumpTest, KeepsMemoryBelowTheFloor) {
    void* const kept = bump_.malloc(all_, 100);
    bump_.keep();
    void* const object = bump_.malloc(all_, 100);
    bump_.free(all_, object);
    EXPECT_EQ(bump_.malloc(all_, 100), object);
    bump_.clear();
    EXPECT_TRUE(bump_.owns(all_, kept));
    EXPECT_FALSE(bump_.owns(all_, object));
    EXPECT_EQ(bump_.malloc(all_, 10), object);
}

} // namespace
} // namespace heapwright::testing

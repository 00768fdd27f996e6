// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/contents.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heapwright::contents {
namespace {

TEST(ContentsTest, EveryByteThatChangesIsFound) {
    for (std::size_t size = 0; size < 40; ++size) {
        std::vector<char> object(size);
        fill(object.data(), size, 12345);
        EXPECT_EQ(firstUnlike(object.data(), size, 12345), size);
        for (std::size_t at = 0; at < size; ++at) {
            for (const int bit : {1, 16}) {
                object[at] = static_cast<char>(object[at] ^ bit);
                EXPECT_EQ(firstUnlike(object.data(), size, 12345), at);
                object[at] = static_cast<char>(object[at] ^ bit);
            }
        }
    }
}

TEST(ContentsTest, ClearedMemoryIsNoContents) {
    const std::vector<char> object(64);
    EXPECT_EQ(firstUnlike(object.data(), 64, 99), 0U);
    EXPECT_EQ(firstNotZero(object.data(), 64), 64U);
}

TEST(ContentsTest, AnotherObjectsAndMovedBytesAreUnlike) {
    std::vector<char> object(64);
    fill(object.data(), 64, 1);
    EXPECT_LT(firstUnlike(object.data(), 64, 2), 8U);
    EXPECT_LT(firstUnlike(object.data() + 8, 56, 1), 8U);
}

TEST(ContentsTest, TheFirstByteThatIsNotZeroIsFound) {
    std::vector<char> object(100);
    object[99] = 1;
    EXPECT_EQ(firstNotZero(object.data(), 100), 99U);
    EXPECT_EQ(firstNotZero(object.data(), 99), 99U);
    object[3] = -1;
    EXPECT_EQ(firstNotZero(object.data(), 100), 3U);
}

} // namespace
} // namespace heapwright::contents

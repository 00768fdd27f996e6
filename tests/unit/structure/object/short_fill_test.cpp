// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/object/short_fill.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace heapwright::testing {
namespace {

constexpr std::size_t most = 300;
static_assert(most > ShortFill::longest);

TEST(ShortFill, ChangesExactlyTheBytesOfTheObject) {
    for (std::size_t size = 0; size <= most; ++size) {
        for (const bool isShort : {false, true}) {
            std::array<unsigned char, most + 32> bytes;
            bytes.fill(7);
            if (!isShort) {
                ShortFill::fill(bytes.data() + 16, 0xF5, size);
            } else if (size <= ShortFill::longest) {
                ShortFill::fillShort(bytes.data() + 16, 0xF5, size);
            } else {
                continue;
            }
            EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 0xF5), static_cast<long>(size));
            const auto* const first = bytes.begin() + 16;
            EXPECT_TRUE(std::all_of(first, first + static_cast<long>(size),
                                    [](unsigned char each) { return each == 0xF5; }));
        }
    }
}

TEST(ShortFill, FindsEachOtherByte) {
    for (std::size_t size = 8; size <= most; size += 8) {
        std::vector<unsigned char> bytes(size, 0xF5);
        EXPECT_TRUE(ShortFill::consistsOf(bytes.data(), 0xF5, size));
        for (unsigned char& each : bytes) {
            each = 0xF4;
            EXPECT_FALSE(ShortFill::consistsOf(bytes.data(), 0xF5, size)) << size;
            each = 0xF5;
        }
        std::fill(bytes.begin(), bytes.end(), 0x55);
        EXPECT_FALSE(ShortFill::consistsOf(bytes.data(), 0xF5, size)) << "all are equal, but other";
    }
}

} // namespace
} // namespace heapwright::testing

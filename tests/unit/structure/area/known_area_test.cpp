// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/area/known_area.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace heapwright {
namespace {

TEST(KnownArea, HasNothingBeforeItIsTaken) {
    const KnownArea<64> area;
    int here = 0;
    EXPECT_FALSE(area.isTaken());
    EXPECT_FALSE(area.has(nullptr));
    EXPECT_FALSE(area.has(&here));
    EXPECT_FALSE(area.has(pointerTo(63)));
}

TEST(KnownArea, HasItsBytesAndNoOthers) {
    std::array<std::byte, 96> memory{};
    KnownArea<64> area;
    area.take(&memory[16]);
    EXPECT_TRUE(area.isTaken());
    EXPECT_EQ(area.begin(), addressOf(&memory[16]));
    EXPECT_FALSE(area.has(&memory[15]));
    EXPECT_TRUE(area.has(&memory[16]));
    EXPECT_TRUE(area.has(&memory[79]));
    EXPECT_FALSE(area.has(&memory[80]));
    EXPECT_FALSE(area.has(nullptr));
}

} // namespace
} // namespace heapwright

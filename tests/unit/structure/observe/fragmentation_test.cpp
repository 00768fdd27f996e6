// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/observe/fragmentation.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace heapwright::testing {
namespace {

TEST(Fragmentation, IsTheMostTakenOverTheMostInUse) {
    Fragmentation figures;
    EXPECT_EQ(figures.ratio(), 0.0);
    figures.use(1000);
    figures.see(4096);
    figures.unuse(1000);
    figures.see(1024);
    figures.use(2048);
    figures.see(3000);
    EXPECT_EQ(figures.mostInUse, 2048U);
    EXPECT_EQ(figures.mostTaken, 4096U);
    EXPECT_EQ(figures.ratio(), 2.0) << "though the two were not at one time";
}

TEST(Fragmentation, IsWrittenInALine) {
    Fragmentation figures;
    figures.use(2048);
    figures.see(3072);
    figures.unuse(48);
    FixedText<256> text;
    figures.writeTo(text);
    EXPECT_EQ(text.view(),
              "in use 2000, at most 2048; taken 3072, at most 3072; fragmentation 1.500\n");
    text.clear();
    Fragmentation().writeTo(text);
    EXPECT_EQ(text.view(), "in use 0, at most 0; taken 0, at most 0; fragmentation -\n");
}

TEST(Fragmentation, TheLongestLineIsNotCut) {
    const Fragmentation figures = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX};
    FixedText<192> text;
    figures.writeTo(text);
    EXPECT_FALSE(text.cut());
}

} // namespace
} // namespace heapwright::testing

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/per_doubling.hpp>

#include <support/size_class_model.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heapwright::testing {
namespace {

TEST(PerDoubling, AgreesWithAPlainSearch) {
    expectModelledSizeClasses<PerDoubling<1, 14>>();
    expectModelledSizeClasses<PerDoubling<2, 20>>();
    expectModelledSizeClasses<PerDoubling<8, 100>>();
    expectModelledSizeClasses<PerDoubling<16, 5>>();
}

TEST(FourPerDoubling, AgreesWithAPlainSearch) {
    expectModelledSizeClasses<FourPerDoubling<1>>();
    expectModelledSizeClasses<FourPerDoubling<9>>();
    expectModelledSizeClasses<FourPerDoubling<40>>();
    expectModelledSizeClasses<FourPerDoubling<100>>();
}

TEST(FourPerDoubling, HasTheBlocksOfJemalloc) {
    using Classes = FourPerDoubling<17>;
    const std::vector<std::size_t> blocks = {16,  32,  48,  64,  80,  96,  112, 128, 160,
                                             192, 224, 256, 320, 384, 448, 512, 640};
    ASSERT_EQ(blocks.size(), Classes::count);
    for (std::size_t index = 0; index < blocks.size(); ++index) {
        EXPECT_EQ(Classes::sizeOf(index) + blockTag, blocks[index]);
    }
}

} // namespace
} // namespace heapwright::testing

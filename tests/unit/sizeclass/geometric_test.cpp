// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/geometric.hpp>

#include <support/size_class_model.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heapwright::testing {
namespace {

TEST(Geometric, AgreesWithAPlainSearch) {
    expectModelledSizeClasses<Geometric<2, 1, 16, 14>>();
    expectModelledSizeClasses<Geometric<3, 2, 32, 30>>();
    expectModelledSizeClasses<Geometric<6, 5, 16, 80>>();
    expectModelledSizeClasses<Geometric<10, 1, 48, 1>>();
}

TEST(Geometric, GrowsByItsRatioAndAtLeastByOneStep) {
    using Classes = Geometric<3, 2, 32, 8>;
    const std::vector<std::size_t> blocks = {32, 48, 64, 96, 144, 208, 304, 448};
    ASSERT_EQ(blocks.size(), Classes::count);
    for (std::size_t index = 0; index < blocks.size(); ++index) {
        EXPECT_EQ(Classes::sizeOf(index) + blockTag, blocks[index]);
    }
}

TEST(Geometric, ADoublingIsThePowersOfTwo) {
    using Classes = Geometric<2, 1, 16, 20>;
    for (std::size_t index = 0; index < Classes::count; ++index) {
        EXPECT_EQ(Classes::sizeOf(index) + blockTag, std::size_t{16} << index);
    }
}

} // namespace
} // namespace heapwright::testing

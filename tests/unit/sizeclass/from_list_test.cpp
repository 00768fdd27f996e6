// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/from_list.hpp>

#include <support/size_class_model.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(FromList, AgreesWithAPlainSearch) {
    expectModelledSizeClasses<FromList<16>>();
    expectModelledSizeClasses<FromList<32, 64, 256>>();
    expectModelledSizeClasses<FromList<48, 2048, 2064, 4096, 50000, 1048576>>();
}

TEST(FromList, HasTheListedBlocks) {
    using Classes = FromList<32, 64, 256>;
    EXPECT_EQ(Classes::count, 3U);
    EXPECT_EQ(Classes::sizeOf(0), 24U);
    EXPECT_EQ(Classes::sizeOf(2), 248U);
    EXPECT_EQ(Classes::classFor(25), 1U);
    EXPECT_EQ(Classes::classFor(249), 3U);
}

} // namespace
} // namespace heapwright::testing

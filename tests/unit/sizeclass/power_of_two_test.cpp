// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/power_of_two.hpp>

#include <support/size_class_model.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(PowerOfTwo, AgreesWithAPlainSearch) {
    expectModelledSizeClasses<PowerOfTwo<29>>();
}

} // namespace
} // namespace heapwright::testing

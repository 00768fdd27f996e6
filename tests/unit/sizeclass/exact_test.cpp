// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/exact.hpp>

#include <support/size_class_model.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(Exact, AgreesWithAPlainSearch) {
    expectModelledSizeClasses<Exact<4>>();
}

} // namespace
} // namespace heapwright::testing

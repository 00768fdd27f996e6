// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/table_classes.hpp>

#include <support/size_class_model.hpp>

#include <gtest/gtest.h>

#include <array>

namespace heapwright::testing {
namespace {

/// Every multiple of 16 up to 4 KiB: the table ends in the middle of them.
struct Dense {
    static constexpr auto blocks = [] {
        std::array<std::size_t, 256> table{};
        for (std::size_t index = 0; index < table.size(); ++index) {
            table[index] = (index + 1) * 16;
        }
        return table;
    }();
};
/// Nothing where the table is, and a gap of many doublings behind.
struct Sparse {
    static constexpr std::array<std::size_t, 3> blocks = {3072, 4096, std::size_t{1} << 40U};
};

TEST(TableClasses, AgreesWithAPlainSearch) {
    expectModelledSizeClasses<TableClasses<Dense>>();
    expectModelledSizeClasses<TableClasses<Sparse>>();
}

TEST(TableClasses, IsThereWhileCompiling) {
    static_assert(TableClasses<Dense>::classFor(100) == 6);
    static_assert(TableClasses<Dense>::classOf(104) == 6);
    static_assert(TableClasses<Sparse>::classFor(1) == 0);
    static_assert(TableClasses<Sparse>::classOf(8) >= 3);
    static_assert(TableClasses<Sparse>::classFor(5000) == 2);
}

} // namespace
} // namespace heapwright::testing

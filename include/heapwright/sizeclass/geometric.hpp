// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Size classes that grow by a fixed ratio. The first block has `Smallest` bytes. Each further block
// is at most `Numerator / Denominator` times the one before, rounded down to a multiple of 16, but
// at least 16 larger. A request thus wastes less than 1 - Denominator / Numerator of its block,
// except where the minimum step of 16 decides.
// Source: the Hoard allocator uses such classes with a ratio of 1.2.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/sizeclass/table_classes.hpp>
#include <heapwright/sizeclass/waste.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace heapwright {

namespace detail {

template <std::size_t Numerator, std::size_t Denominator, std::size_t Smallest, std::size_t Count>
struct GeometricTable {
    static_assert(Denominator >= 1 && Numerator > Denominator && Numerator <= UINT16_MAX,
                  "the ratio is above 1");

    static constexpr std::array<std::size_t, Count> blocks = [] {
        std::array<std::size_t, Count> table{};
        std::size_t block = Smallest;
        for (std::size_t& entry : table) {
            entry = block;
            const std::size_t grown = roundDown(block * Numerator / Denominator, minAlignment);
            block = grown > block ? grown : block + minAlignment;
        }
        return table;
    }();
};

} // namespace detail

template <std::size_t Numerator, std::size_t Denominator, std::size_t Smallest, std::size_t Count>
struct Geometric : TableClasses<detail::GeometricTable<Numerator, Denominator, Smallest, Count>> {};

static_assert(worstCaseWaste<Geometric<2, 1, 16, 29>>().isAtMost(1, 2));
static_assert(worstCaseWaste<Geometric<3, 2, 32, 40>>(64).isAtMost(1, 3));
static_assert(worstCaseWaste<Geometric<6, 5, 16, 80>>(80).isAtMost(1, 6),
              "a ratio of 1.2, as in Hoard");

} // namespace heapwright

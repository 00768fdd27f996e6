// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Size classes from a list of block sizes, for a program whose sizes are known. Each block size is
// a multiple of 16 and larger than the one before. The tag takes 8 bytes of a block, so
// `FromList<32, 64, 256>` serves requests of up to 24, 56 and 248 bytes.
#pragma once

#include <heapwright/sizeclass/table_classes.hpp>
#include <heapwright/sizeclass/waste.hpp>

#include <array>
#include <cstddef>

namespace heapwright {

namespace detail {

template <std::size_t... Blocks>
struct ListedTable {
    static constexpr std::array<std::size_t, sizeof...(Blocks)> blocks = {Blocks...};
};

} // namespace detail

template <std::size_t... Blocks>
struct FromList : TableClasses<detail::ListedTable<Blocks...>> {};

static_assert(worstCaseWaste<FromList<32, 64, 256>>(25).isAtMost(3, 4));

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A fit keeps the free blocks of a heap that splits and merges. It selects the block for a request
// by first fit, next fit or best fit.
// Pre: the tag of a block holds its size during `add` and `remove`. `takeFit` returns null if no
// block is large enough. A fit uses the links in a block, or more if it states a `leastBlock`; it
// then keeps no smaller block. Implementations: structure/fit/fit_bins.hpp, unsorted_bins.hpp,
// sequential_fits.hpp, exact_fit.hpp, size_tree.hpp, size_tries.hpp.
#pragma once

#include <heapwright/structure/fit/block.hpp>

#include <concepts>
#include <cstddef>

namespace heapwright {

/// A fit for blocks of at least some size.
template <class F>
concept PartialFit = requires(F fit, Block* block, std::size_t size, void (*visit)(Block*)) {
    { fit.add(block) } -> std::same_as<void>;
    { fit.remove(block) } -> std::same_as<void>;
    { fit.takeFit(size) } -> std::same_as<Block*>;
    { fit.forEach(visit) } -> std::same_as<void>;
    { fit.clear() } -> std::same_as<void>;
};

/// A fit that states the smallest block that it can keep.
template <class F>
concept StatesLeastBlock = requires { F::leastBlock; };

/// The smallest block that a fit can keep.
template <class F>
inline constexpr std::size_t leastBlockOf = Block::minSize;

template <StatesLeastBlock F>
inline constexpr std::size_t leastBlockOf<F> = F::leastBlock;

/// A fit for all blocks of at least `Least` bytes.
template <class F, std::size_t Least>
concept FitFrom = PartialFit<F> && (leastBlockOf<F> <= Least);

/// A fit for all blocks.
template <class F>
concept FitPolicy = FitFrom<F, Block::minSize>;

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A fit keeps the free blocks of a heap that splits and merges, and says which of them serves a
// request: the first, the next, the best. `add` and `remove` get a block while its tag says its
// size, `takeFit` answers null if no block is large enough; what it uses of a block is its links.
// The ones there are: structure/fit_bins.hpp, sequential_fits.hpp, exact_fit.hpp, size_tree.hpp.
#pragma once

#include <heapwright/structure/block.hpp>

#include <concepts>
#include <cstddef>

namespace heapwright {

template <class F>
concept FitPolicy = requires(F fit, Block* block, std::size_t size, void (*visit)(Block*)) {
    { fit.add(block) } -> std::same_as<void>;
    { fit.remove(block) } -> std::same_as<void>;
    { fit.takeFit(size) } -> std::same_as<Block*>;
    { fit.forEach(visit) } -> std::same_as<void>;
    { fit.clear() } -> std::same_as<void>;
};

} // namespace heapwright

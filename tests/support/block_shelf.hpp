// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Free blocks that lie one behind another in memory, for the tests of structures that keep such
// blocks. Only its tag and its links are in use, or the bytes of the smallest block of a trie.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/structure/fit/block.hpp>

#include <cstddef>
#include <vector>

namespace heapwright::testing {

class BlockShelf {
public:
    explicit BlockShelf(std::size_t places) : places_(places) {}

    /// The block of the given place, which says that it has `size` bytes.
    Block* at(std::size_t place, std::size_t size) {
        return Block::make(&places_.at(place), size, State::free, Flag::binned);
    }

private:
    struct alignas(minAlignment) Place {
        unsigned char bytes[2 * Block::minSize];
    };
    std::vector<Place> places_;
};

} // namespace heapwright::testing

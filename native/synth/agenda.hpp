// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Which blocks end at which operation: a timing wheel in base two (Varghese and Lauck 1987). A
// block waits in the row of the highest bit in which its end differs from now; each time that bit
// turns, the row is sorted anew into lower rows. So a block is moved at most once for each doubling
// of its lifetime, and memory is that of the blocks that are live.
#pragma once

#include "synth/block.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapwright::synth {

class Agenda {
public:
    std::uint64_t now() const { return now_; }

    /// One operation on. What ends now is ready; what was ready before still is.
    void advance() {
        const std::uint64_t before = now_++;
        auto& row = rows_[rowOf(before)];
        if (row.empty())
            return;
        row.swap(turned_);
        for (const Entry& entry : turned_)
            rows_[rowOf(entry.end)].push_back(entry);
        turned_.clear();
    }

    /// The block ends at operation `end`, which is not before now.
    void add(std::uint64_t end, const Block& block) { rows_[rowOf(end)].push_back({end, block}); }

    bool ready() const { return !rows_[0].empty(); }

    /// One of the blocks that are ready.
    Block take() { return takeFrom(0); }

    /// One of the blocks that end soonest, up to a factor of two; false if there is none at all.
    bool takeSoon(Block& block) {
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            if (!rows_[row].empty()) {
                block = takeFrom(row);
                return true;
            }
        }
        return false;
    }

private:
    struct Entry {
        std::uint64_t end;
        Block block;
    };

    std::size_t rowOf(std::uint64_t end) const {
        return static_cast<std::size_t>(std::bit_width(end ^ now_));
    }

    Block takeFrom(std::size_t row) {
        const Block block = rows_[row].back().block;
        rows_[row].pop_back();
        return block;
    }

    std::array<std::vector<Entry>, 65> rows_;
    std::vector<Entry> turned_;
    std::uint64_t now_ = 0;
};

} // namespace heapwright::synth

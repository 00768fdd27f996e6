// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A timing wheel in base two: it returns the blocks whose lifetime ends at the present operation.
//
// A block waits in the row of the highest bit in which its end differs from now. When that bit
// turns, its row is distributed over the lower rows.
// Cost: a block moves at most once for each doubling of its lifetime. Memory is that of live
// blocks. Source: Varghese and Lauck, 1987.
#pragma once

#include "synth/block.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapwright::synth {

class TimingWheel {
public:
    std::uint64_t now() const { return now_; }

    /// Advances by one operation. Blocks that end now become ready. Ready blocks stay ready.
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

    /// Adds a block that ends at operation `end`. Pre: `end` is not before now.
    void add(std::uint64_t end, const Block& block) { rows_[rowOf(end)].push_back({end, block}); }

    bool ready() const { return !rows_[0].empty(); }

    /// Removes and returns a ready block. Pre: there is one.
    Block take() { return takeFrom(0); }

    /// Removes one of the blocks with the earliest end, within a factor of two. False if there is
    /// none.
    bool takeEarliest(Block& block) {
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

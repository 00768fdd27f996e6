// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers for chains of calls: return addresses, innermost first. Each chain is stored once. Number
// 0 is the empty chain, for an unknown place. It does not call malloc. For one thread at a time.
#pragma once

#include "drag/account/page_vector.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace heapwright::drag {

class Sites {
public:
    using Chain = std::span<const std::uint64_t>;

    Sites() {
        chains_.push({0, 0});
        makeTable(1 << 10);
    }

    std::uint32_t intern(Chain chain) {
        if (chain.empty()) {
            return 0;
        }
        if (2 * chains_.size() > table_.size()) {
            makeTable(4 * table_.size());
        }
        std::size_t at = slotOf(chain);
        for (; table_[at] != 0; at = (at + 1) & (table_.size() - 1)) {
            const Chain known = (*this)[table_[at]];
            if (std::equal(chain.begin(), chain.end(), known.begin(), known.end())) {
                return table_[at];
            }
        }
        const auto number = static_cast<std::uint32_t>(chains_.size());
        table_[at] = number;
        chains_.push({frames_.size(), chain.size()});
        for (const std::uint64_t frame : chain) {
            frames_.push(frame);
        }
        return number;
    }

    /// The number of chains, including the empty one.
    std::size_t size() const { return chains_.size(); }
    /// Valid until the next chain is added.
    Chain operator[](std::size_t number) const {
        const auto [begin, length] = chains_[number];
        return {frames_.begin() + begin, length};
    }

private:
    struct Place {
        std::size_t begin;
        std::size_t length;
    };

    std::size_t slotOf(Chain chain) const {
        std::uint64_t hash = chain.size();
        for (const std::uint64_t frame : chain) {
            hash = (hash ^ frame) * 0x9E37'79B9'7F4A'7C15;
            hash ^= hash >> 29;
        }
        return static_cast<std::size_t>(hash) & (table_.size() - 1);
    }

    void makeTable(std::size_t slots) {
        table_.shorten(0);
        for (std::size_t i = 0; i < slots; ++i) {
            table_.push(0);
        }
        for (std::size_t number = 1; number < chains_.size(); ++number) {
            std::size_t at = slotOf((*this)[number]);
            while (table_[at] != 0) {
                at = (at + 1) & (slots - 1);
            }
            table_[at] = static_cast<std::uint32_t>(number);
        }
    }

    PageVector<std::uint64_t> frames_;
    PageVector<Place> chains_;
    PageVector<std::uint32_t> table_; ///< a power of two; 0 is empty
};

} // namespace heapwright::drag

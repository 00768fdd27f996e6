// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A set of small numbers, one bit each, in which the next member is found by a bit scan. Lists by
// size record in it which of them are occupied.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright {

template <std::size_t Count>
class BitSet {
public:
    constexpr BitSet() noexcept = default;

    [[nodiscard]] bool has(std::size_t index) const noexcept {
        return (words_[index / wordBits] & bitOf(index)) != 0;
    }
    void set(std::size_t index) noexcept { words_[index / wordBits] |= bitOf(index); }
    void reset(std::size_t index) noexcept { words_[index / wordBits] &= ~bitOf(index); }

    /// The first member that is not below `from`; `Count` if there is none.
    [[nodiscard]] std::size_t next(std::size_t from) const noexcept {
        if (from >= Count) {
            return Count;
        }
        std::size_t index = from / wordBits;
        std::uint64_t word = words_[index] & (~std::uint64_t{0} << (from % wordBits));
        while (word == 0) {
            if (++index == wordCount) {
                return Count;
            }
            word = words_[index];
        }
        return index * wordBits + static_cast<std::size_t>(__builtin_ctzll(word));
    }

    void clear() noexcept {
        for (std::uint64_t& word : words_) {
            word = 0;
        }
    }

private:
    static constexpr std::size_t wordBits = 64;
    static constexpr std::size_t wordCount = (Count + wordBits - 1) / wordBits;

    static_assert(Count > 0);

    static constexpr std::uint64_t bitOf(std::size_t index) noexcept {
        return std::uint64_t{1} << (index % wordBits);
    }

    std::uint64_t words_[wordCount] = {}; ///< no bit beyond `Count` is ever set
};

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A set of small numbers in which neighbours form runs: the free units in a row of units. Runs are
// found, split and merged by bit scans, 64 numbers in a step. Their lengths are not stored.
//
// Cost: a few instructions for each 64 numbers and for each run that a scan passes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright {

template <std::size_t Count>
class BitRuns {
    static constexpr std::size_t wordBits = 64;
    static constexpr std::size_t wordCount = Count / wordBits;

    static_assert(Count > 0 && Count % wordBits == 0);

public:
    /// A place for a run, and the length of the longest run after it is taken.
    struct Fit {
        std::size_t first = Count; ///< `Count`: there is no place
        std::size_t rest = 0;
    };

    constexpr BitRuns() noexcept = default;

    [[nodiscard]] bool has(std::size_t index) const noexcept {
        return (words_[index / wordBits] >> (index % wordBits) & 1U) != 0;
    }

    void set(std::size_t first, std::size_t count) noexcept {
        eachWord(first, count,
                 [this](std::size_t word, std::uint64_t bits) { words_[word] |= bits; });
    }
    void reset(std::size_t first, std::size_t count) noexcept {
        eachWord(first, count,
                 [this](std::size_t word, std::uint64_t bits) { words_[word] &= ~bits; });
    }

    /// The number of members among `count` numbers from `first`.
    [[nodiscard]] std::size_t count(std::size_t first, std::size_t count) const noexcept {
        std::size_t members = 0;
        eachWord(first, count, [&](std::size_t word, std::uint64_t bits) {
            members += static_cast<std::size_t>(__builtin_popcountll(words_[word] & bits));
        });
        return members;
    }

    /// The first member that is not below `from`; `Count` if there is none.
    [[nodiscard]] std::size_t next(std::size_t from) const noexcept { return scan(from, 0); }

    /// The first number not below `from` that is no member; `Count` if there is none.
    [[nodiscard]] std::size_t nextGap(std::size_t from) const noexcept {
        return scan(from, ~std::uint64_t{0});
    }

    /// The first member of the run that ends just before `end`; `end` if there is none.
    [[nodiscard]] std::size_t startOfRun(std::size_t end) const noexcept {
        while (end > 0) {
            const std::size_t top = (end - 1) % wordBits;
            const std::uint64_t gaps = ~words_[(end - 1) / wordBits] << (wordBits - 1 - top);
            if (gaps != 0) {
                return end - static_cast<std::size_t>(__builtin_clzll(gaps));
            }
            end -= top + 1;
        }
        return 0;
    }

    /// Runs `body(first, end)` on each run of members, until it returns false.
    template <class Body>
    void forEachRun(Body body) const noexcept {
        for (std::size_t first = next(0); first < Count;) {
            const std::size_t end = nextGap(first);
            if (!body(first, end)) {
                return;
            }
            first = end < Count ? next(end) : Count;
        }
    }

    [[nodiscard]] std::size_t longest() const noexcept {
        std::size_t most = 0;
        forEachRun([&most](std::size_t first, std::size_t end) {
            most = end - first > most ? end - first : most;
            return true;
        });
        return most;
    }

    /// A place for `count` numbers in a row, the first of them `phase` modulo `align`. It is in the
    /// shortest run that has one, the first of these, as near to the run's start as possible.
    /// `longest` is the length of the longest run.
    [[nodiscard]] Fit bestFit(std::size_t count, std::size_t align, std::size_t phase,
                              std::size_t longest) const noexcept {
        Fit fit;
        std::size_t length = Count + 1; // length of the best run so far
        std::size_t others = 0;         // the longest of the other runs
        forEachRun([&](std::size_t first, std::size_t end) {
            const std::size_t place = first + ((phase - first) & (align - 1));
            std::size_t passed = end - first;
            if (passed < length && place + count <= end) {
                const std::size_t left = place - first;
                const std::size_t right = end - place - count;
                const std::size_t before = length > Count ? 0 : length;
                length = passed;
                passed = before;
                fit = {place, left > right ? left : right};
            }
            others = passed > others ? passed : others;
            // An exact fit cannot be improved, and the longest of the others is known.
            const bool exact = length == count && longest > count;
            others = exact ? longest : others;
            return !exact;
        });
        fit.rest = others > fit.rest ? others : fit.rest;
        return fit;
    }

private:
    template <class Body>
    static void eachWord(std::size_t first, std::size_t count, Body body) noexcept {
        const std::size_t end = first + count;
        while (first < end) {
            const std::size_t bit = first % wordBits;
            const std::size_t room = wordBits - bit;
            const std::size_t here = end - first < room ? end - first : room;
            body(first / wordBits, (~std::uint64_t{0} >> (wordBits - here)) << bit);
            first += here;
        }
    }

    /// The first number from `from` whose bit differs from that of `flip`.
    [[nodiscard]] std::size_t scan(std::size_t from, std::uint64_t flip) const noexcept {
        if (from >= Count) {
            return Count;
        }
        std::size_t index = from / wordBits;
        std::uint64_t word = (words_[index] ^ flip) & (~std::uint64_t{0} << (from % wordBits));
        while (word == 0) {
            if (++index == wordCount) {
                return Count;
            }
            word = words_[index] ^ flip;
        }
        return index * wordBits + static_cast<std::size_t>(__builtin_ctzll(word));
    }

    std::uint64_t words_[wordCount] = {};
};

} // namespace heapwright

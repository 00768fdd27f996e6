// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Which of its objects a thread visits. A trace has no accesses. It has the moments at which a
// program was done with an object: an object that is freed was in use shortly before.
//
// Model: objects have a rank (see recency.hpp) when they are freed, or at the end of the trace. The
// ranks of visited objects have the same distribution. A stack-like program visits its
// youngest objects, a program that builds a structure and keeps it visits all of it. Ranks are
// counted in steps of a doubling and drawn evenly within a step.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>

namespace heapwright::replayer {

class Locality {
public:
    void add(std::size_t rank) {
        ++counts_[stepOf(rank)];
        ++sum_;
    }

    /// A rank below `live`. Pre: `live` is not 0.
    std::size_t draw(std::mt19937_64& random, std::size_t live) const {
        std::uint64_t left = sum_ == 0 ? 0 : random() % sum_;
        std::size_t step = 0;
        while (step + 1 < counts_.size() && left >= counts_[step]) {
            left -= counts_[step++];
        }
        const std::uint64_t width = std::uint64_t{1} << step;
        return static_cast<std::size_t>((width - 1 + random() % width) % live);
    }

    /// Step n has the ranks from 2^n - 1 to 2^(n+1) - 2.
    static std::size_t stepOf(std::size_t rank) {
        return static_cast<std::size_t>(std::bit_width(std::uint64_t{rank} + 1)) - 1;
    }

private:
    std::array<std::uint64_t, 40> counts_{};
    std::uint64_t sum_ = 0;
};

} // namespace heapwright::replayer

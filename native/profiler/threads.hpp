// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts for each thread, and for each pair of an allocating and a freeing thread. Memory is that
// of the threads and of a bounded number of pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "profiler/json.hpp"

namespace heapwright::profiler {

struct ThreadCounts {
    std::uint32_t process = 0;
    std::uint64_t allocations = 0;
    std::uint64_t bytes = 0;
    std::uint64_t frees = 0;
    std::uint64_t freedElsewhere = 0;
    std::uint64_t freedOfOthers = 0;
    std::uint64_t first = UINT64_MAX; ///< ns
    std::uint64_t last = 0;
    std::uint64_t newest = 0; ///< mark of its last allocation (`LiveBlocks`)
};

class Threads {
public:
    explicit Threads(std::size_t count) : counts_(count) {}

    ThreadCounts& of(std::uint32_t thread) { return counts_[thread]; }

    /// A block of one thread was ended by another.
    void handedOver(std::uint32_t from, std::uint32_t to, bool byRealloc);

    void write(Json& json) const;
    /// `ended`: blocks that ended, by whomever.
    void writePairs(Json& json, std::uint64_t ended) const;

private:
    static constexpr std::size_t mostPairs = 1 << 20;
    static constexpr std::size_t mostWritten = 10'000;

    std::vector<ThreadCounts> counts_;
    std::unordered_map<std::uint64_t, std::uint64_t> pairs_;
    std::uint64_t handedOver_ = 0;
    std::uint64_t byRealloc_ = 0;
};

} // namespace heapwright::profiler

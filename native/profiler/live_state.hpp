// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What is live, and how much it was at the most: the state that all curves are drawn from.
#pragma once

#include <cstdint>

namespace heapwright::profiler {

struct LiveState {
    std::uint64_t time = 0;       ///< ns
    std::uint64_t operations = 0; ///< calls so far
    std::uint64_t bytes = 0;      ///< requested
    std::uint64_t objects = 0;
    std::uint64_t usable = 0;    ///< what the allocator had rounded them up to
    std::uint64_t requested = 0; ///< bytes of all allocations so far
};

} // namespace heapwright::profiler

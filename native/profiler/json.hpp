// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes the parts of a profile as a stream of JSON. The caller ends each object that it begins.
#pragma once

#include <cstdint>
#include <heapwright/core/json.hpp>

namespace heapwright::profiler {

/// `part` of `whole`; of nothing it is nothing.
constexpr double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

} // namespace heapwright::profiler

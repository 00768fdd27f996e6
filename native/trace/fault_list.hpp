// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The faults of a trace: the first thousand with words, and how many there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heapwright::trace {

/// A piece of a trace that could not be used.
struct Fault {
    std::uint64_t offset;
    std::string what;
};

struct FaultList {
    static constexpr std::size_t most = 1000;

    void add(std::uint64_t offset, std::string what) {
        ++count;
        if (told.size() < most)
            told.push_back({offset, std::move(what)});
    }

    std::vector<Fault> told;
    std::uint64_t count = 0;
};

} // namespace heapwright::trace

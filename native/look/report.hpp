// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What was found, as one JSON object. The Python package checks and interprets it
// (src/heapwright/look/scan.py).
#pragma once

#include "categories.hpp"
#include "granary.hpp"
#include "leaks.hpp"
#include "mimalloc.hpp"

#include <optional>
#include <string>
#include <vector>

namespace heapwright::look {

struct Findings {
    bool isCore = false;
    std::uint64_t missingBytes = 0; ///< of a truncated core
    std::optional<Glibc> glibc;
    HeapAccount heap;
    std::optional<GranaryAccount> granary;
    std::optional<MimallocAccount> mimalloc;
    std::vector<MappedChunk> blocks;
    std::uint64_t blocksResident = 0;
    std::vector<Stack> stacks;
    std::uint64_t endedStacksResident = 0;
    Categories categories{};
    std::optional<Leaks> leaks;
    std::vector<Blocks>
        sizes; ///< live blocks by the power of two below their size; empty: not asked
    std::optional<double> pauseMs;
    std::uint64_t copiedBytes = 0;
};

/// `image` has the mappings with figures.
std::string reportOf(const Findings& findings, const Image& image);

} // namespace heapwright::look

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The lines of a function of CPython, from its table `co_linetable` (3.11 and later).
//
// A table is a sequence of entries. Each is about the next 1 to 8 instructions. Its first byte has
// bit 7 set, the form in bits 3 to 6, and the number of instructions less one below. The forms
// differ in how they write lines and columns. Columns are skipped here.
// Source: Objects/locations.md of CPython.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace heapwright::trace {

class SourceLines {
public:
    /// A damaged table ends where it stops making sense.
    SourceLines(std::uint32_t first, std::string_view table);

    /// The line of a place: 0 is before the first instruction, 1 is that. 0 if it is not known.
    std::uint32_t at(std::uint64_t place) const;

private:
    struct Run {
        std::uint32_t begin; ///< place
        std::uint32_t line;
    };
    void add(std::uint32_t begin, std::uint32_t line);

    std::vector<Run> runs_; ///< by place
};

} // namespace heapwright::trace

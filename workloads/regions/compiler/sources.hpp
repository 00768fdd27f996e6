// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Modules to compile: functions with loops, branches and calls in a small language, drawn from a
// seed, in mapped memory. Every function terminates: loops have a fixed number of rounds, and only
// functions without calls are called.
//
//     fn NAME(NAME, NAME) { let NAME = EXPR; NAME = EXPR; if (EXPR) { } else { } loop 3 { }
//                           return EXPR; }
#pragma once

#include "../documents.hpp"

namespace heapwright::workloads::compiler {

/// The first functions of a module, which call no others.
inline constexpr std::uint64_t leaves = 4;

class Sources {
public:
    /// `count` modules of `functions` functions each.
    Sources(std::uint64_t seed, std::uint64_t count, std::uint64_t functions);

    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] const TextPiece& operator[](std::uint64_t which) const { return pieces_[which]; }

private:
    std::uint64_t count_;
    TextPiece* pieces_;
};

} // namespace heapwright::workloads::compiler

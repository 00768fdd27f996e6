// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON documents to parse: lists of records with nested fields of all kinds, drawn from a seed, in
// mapped memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright::workloads {

struct TextPiece {
    const char* begin;
    std::size_t length;
};

class Documents {
public:
    /// `count` documents of about `bytes` each.
    Documents(std::uint64_t seed, std::uint64_t count, std::uint64_t bytes);

    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] const TextPiece& operator[](std::uint64_t which) const { return pieces_[which]; }

private:
    std::uint64_t count_;
    TextPiece* pieces_;
};

} // namespace heapwright::workloads

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Sentences, and a lexicon with the possible links of each of their words, drawn from a seed, in
// mapped memory. Each sentence has at least one linkage: the one from which it was drawn.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright::workloads::links {

inline constexpr unsigned mostConnectors = 6; ///< on one side
inline constexpr unsigned mostWords = 24;     ///< of a sentence
inline constexpr unsigned mostUses = 10;      ///< of a word

/// One way to use a word: the labels of its links on either side, the farthest first.
struct Use {
    std::uint8_t lefts;
    std::uint8_t rights;
    std::uint8_t left[mostConnectors];
    std::uint8_t right[mostConnectors];
};

struct Entry {
    std::uint32_t count;
    Use uses[mostUses];
};

struct Sentence {
    std::uint32_t length;
    std::uint8_t words[mostWords];
};

class Sentences {
public:
    /// `count` sentences of `length` words.
    Sentences(std::uint64_t seed, std::uint64_t count, std::uint64_t length);

    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] const Sentence& operator[](std::uint64_t which) const {
        return sentences_[which];
    }
    [[nodiscard]] const Entry& entry(std::uint8_t word) const { return lexicon_[word]; }

private:
    std::uint64_t count_;
    Sentence* sentences_;
    Entry* lexicon_;
};

} // namespace heapwright::workloads::links

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The live blocks at the end of a trace, and the pages that ever contained blocks, which are the
// allocator's.
// Cost: memory for the live blocks, and a bit for each page that a block touched.
#pragma once

#include "trace/reader.hpp"

#include <bitset>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace heapwright::leakscan {

struct Block {
    std::uint64_t begin;
    std::uint64_t size;   ///< as requested
    std::uint64_t usable; ///< at least 1
    std::uint32_t stack;
    bool reached = false;
};

/// Pages of 4 KiB.
class PageSet {
public:
    void set(std::uint64_t begin, std::uint64_t bytes, bool in);
    bool has(std::uint64_t address) const;

private:
    void setInPart(std::uint64_t first, std::uint64_t behind, bool in);

    std::unordered_map<std::uint64_t, std::bitset<512>> parts_; ///< by address / 2 MiB
};

/// The last process of the trace with this number; nothing if there is none.
std::optional<std::uint32_t> processOf(const trace::Trace& trace, std::uint32_t pid);

class LiveBlocks {
public:
    LiveBlocks(const trace::Trace& trace, std::uint32_t process);

    std::vector<Block>& blocks() { return blocks_; } ///< ascending
    const std::vector<Block>& blocks() const { return blocks_; }
    const PageSet& pages() const { return pages_; }

    /// The block that contains the address; null if none does.
    Block* find(std::uint64_t address);

private:
    void apply(const trace::Event& event);
    void begin(const trace::Event& event);
    void end(std::uint64_t address);

    std::unordered_map<std::uint64_t, Block> live_;
    std::vector<Block> blocks_;
    PageSet pages_;
};

} // namespace heapwright::leakscan

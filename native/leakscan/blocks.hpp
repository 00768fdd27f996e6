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
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapwright::leakscan {

struct Block {
    std::uint64_t begin;
    std::uint64_t size;   ///< as requested
    std::uint64_t usable; ///< at least 1
    std::uint32_t stack;
    std::uint64_t born = 0; ///< ns since the trace began
    bool inherited = false; ///< from the process that forked this one
    bool reached = false;
};

/// Memory of a freed block.
struct Freed {
    std::uint64_t begin;
    std::uint64_t usable;
    std::uint64_t time; ///< ns since the trace began
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
    /// Includes the blocks that a forked process inherited, because they may lead to its own.
    LiveBlocks(const trace::Trace& trace, std::uint32_t process);

    /// Blocks that another source knows, ascending, and the pages of the allocator.
    LiveBlocks(std::vector<Block> blocks, PageSet pages)
        : blocks_(std::move(blocks)), pages_(std::move(pages)) {}

    std::vector<Block>& blocks() { return blocks_; } ///< ascending
    const std::vector<Block>& blocks() const { return blocks_; }
    const PageSet& pages() const { return pages_; }

    /// The ranges of blocks that the process freed shortly before its end. A block that only they
    /// pointed to was in use until the teardown.
    std::vector<Freed> freedLately() const;

    /// The block that contains the address; null if none does.
    Block* find(std::uint64_t address);

private:
    void applyAll(const trace::Trace& trace, std::uint32_t process, std::uint64_t until);
    void apply(const trace::Event& event);
    void begin(const trace::Event& event);
    void end(std::uint64_t address, std::uint64_t time);
    void forgetFreed(std::uint64_t time);

    std::unordered_map<std::uint64_t, Block> live_;
    std::vector<Block> blocks_;
    std::deque<Freed> freed_; ///< ascending in time
    PageSet pages_;
};

} // namespace heapwright::leakscan

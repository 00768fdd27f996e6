// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The tree of all chains of calls that a process has taken, shared by its threads without a lock.
// Its nodes stand in the trace itself, where they are found again by a hash table in memory of our
// own, which grows by levels: what has no room in its line of one level is looked for in the next,
// eight times as large.
//
// Invariants: a node that a level leads to is complete and never changes. Two threads that make the
// same node at once may both have made one; one of them is found from then on, both are right. Only
// a new block waits for anything (the system). Cost: one line of each level and one of the trace.
#pragma once

#include "stacks.hpp"

#include "trace/layout.hpp"
#include "trace/stacks.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright::stacks {

class NodeTable {
public:
    /// False where the system has no memory.
    bool begin(const Host& host) noexcept;

    /// The number of the node for a call that returns to `address`, out of the call `parent`. Where
    /// there is no more room it is the parent's.
    std::uint32_t child(std::uint32_t parent, std::uint64_t address) noexcept;

    /// Code has come to the place of other code: what is met from now on is new.
    void forget() noexcept;

    /// In the child of a fork: blocks that are not full are the parent's to fill.
    void afterForkInChild() noexcept;

private:
    static constexpr std::size_t blockBytes = std::size_t{16} << 10U;
    static constexpr std::uint32_t perBlock =
        (blockBytes - sizeof(trace::BlockHeader) - sizeof(trace::RecordHeader) -
         sizeof(trace::StackNodes)) /
        sizeof(trace::StackNode);
    static constexpr std::uint32_t mostBlocks = 8192; // 11 million nodes
    static constexpr std::size_t levels = 4;
    static constexpr unsigned firstBits = 13;
    static constexpr unsigned growthBits = 3;
    static constexpr std::size_t line = 8;

    using Place = std::atomic<std::uint64_t>; ///< upper half: of the hash; lower: a node's number

    struct Block {
        trace::BlockHeader header;
        trace::RecordHeader record;
        trace::StackNodes nodes;
        trace::StackNode node[perBlock];
    };
    static_assert(sizeof(Block) <= blockBytes);

    struct Key {
        std::uint32_t parent;
        std::uint64_t address;
        std::uint64_t hash;
    };

    [[nodiscard]] Place* level(std::size_t number) noexcept;
    [[nodiscard]] bool is(std::uint32_t number, const Key& key) const noexcept;
    std::uint32_t make(const Key& key) noexcept;
    Block* blockOf(std::uint32_t number) noexcept;

    Host host_{};
    std::atomic<std::uint32_t> next_{1};
    std::array<std::atomic<Place*>, levels> levels_{};
    std::atomic<Block*>* blocks_ = nullptr;
    std::atomic<std::uint32_t>* filled_ = nullptr; ///< nodes of each block that are complete
    std::atomic<Block*> spare_{nullptr};
    std::atomic<bool> full_{false};
};

} // namespace heapwright::stacks

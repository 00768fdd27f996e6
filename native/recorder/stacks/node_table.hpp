// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The tree of all call chains of a process, shared by its threads without a lock. Each thread
// writes its new nodes into its own blocks before it publishes them. A hash table in private memory
// finds them again. It grows by levels: a node whose line of one level is full goes to the next
// level, which is eight times as large.
//
// Invariant: a published node is complete, is in the trace, and never changes. Its number is larger
// than its parent's. Two threads that add the same node at once may both make one; later lookups
// find one of them, and both are valid. Only a new block waits (for a system call).
// Cost: one line of each level, prefetched together, and one line of the nodes.
#pragma once

#include "host.hpp"
#include "row.hpp"

#include "trace/layout.hpp"
#include "trace/stack_nodes.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright::recorder::stacks {

/// What one thread makes nodes with.
struct NodeStream {
    trace::NodeWriter writer;
    std::uint32_t next = 0;   ///< number
    std::uint32_t beyond = 0; ///< the numbers that are the thread's own
    std::uint8_t sizeShift = 0;
};

class NodeTable {
public:
    /// False where the system has no memory.
    bool begin(const Host& host) noexcept;

    /// The number of the node for a call that returns to `address`, out of the call `parent`. Where
    /// there is no more room it is the parent's.
    std::uint32_t child(std::uint32_t parent, std::uint64_t address, NodeStream& mine) noexcept;

    /// A node in memory.
    struct Node {
        std::uint64_t address;
        std::uint32_t parent;
        std::uint32_t row; ///< see `rowOf`
    };
    /// How a node's caller is found, if that was noted; else `noRow`.
    [[nodiscard]] static ShortRow rowOf(const Node& node) noexcept {
        return static_cast<ShortRow>(__atomic_load_n(&node.row, __ATOMIC_RELAXED));
    }
    /// Pre: `number` is 0 or was given by `child`. That of 0 has no address.
    [[nodiscard]] const Node& at(std::uint32_t number) const noexcept {
        return segments_[number / perSegment].load(std::memory_order_relaxed)[number % perSegment];
    }
    void noteRow(std::uint32_t number, ShortRow row) noexcept {
        Node& node =
            segments_[number / perSegment].load(std::memory_order_relaxed)[number % perSegment];
        __atomic_store_n(&node.row, std::uint32_t{row}, __ATOMIC_RELAXED);
    }

    /// Code has come to the place of other code: what is met from now on is new. Each thread is to
    /// end its block, so that the next one's time tells what came after.
    void forget() noexcept;

    /// Ends a thread's block.
    void close(NodeStream& mine) noexcept;

    /// In the child of a fork: blocks and numbers are the parent's.
    static void abandon(NodeStream& mine) noexcept;

private:
    static constexpr std::uint32_t atOnce = 64; ///< numbers that a thread takes
    static constexpr std::uint32_t perSegment = 1U << 17;
    static constexpr std::uint32_t segments = 128; // 16 million nodes
    static constexpr std::uint8_t mostSizeShift = 4;
    static constexpr std::size_t levels = 3;
    static constexpr unsigned firstBits = 16;
    static constexpr unsigned growthBits = 3;
    static constexpr std::size_t line = 8;

    using Place = std::atomic<std::uint64_t>; ///< upper half: of the hash; lower: a node's number

    struct Key {
        std::uint32_t parent;
        std::uint64_t address;
        std::uint64_t hash;
    };
    /// One line of each level that there is.
    using Lines = std::array<Place*, levels>;

    [[nodiscard]] static std::size_t placeOf(std::size_t number, std::uint64_t hash) noexcept;
    [[nodiscard]] Lines linesOf(std::uint64_t hash) const noexcept;
    [[nodiscard]] Place* level(std::size_t number) noexcept;
    [[nodiscard]] bool is(std::uint32_t number, const Key& key) const noexcept;
    [[nodiscard]] Node* segment(std::uint32_t number) noexcept;
    [[nodiscard]] std::uint32_t takeNumber(std::uint32_t parent, NodeStream& mine) noexcept;
    bool makeRoom(NodeStream& mine, std::uint32_t number) noexcept;
    [[gnu::cold, gnu::noinline]] std::uint32_t make(const Key& key, NodeStream& mine) noexcept;

    Host host_{};
    std::atomic<std::uint32_t> next_{1};
    std::array<std::atomic<Place*>, levels> levels_{};
    std::array<std::atomic<Node*>, segments> segments_{};
    std::atomic<bool> full_{false};
};

} // namespace heapwright::recorder::stacks

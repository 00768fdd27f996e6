// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The records of the blocks that say where memory was asked for: the table of chains of calls, and
// the objects that their addresses lie in. FORMAT.md says the same in words.
//
// A chain is a path in a tree. Each node is one call: the address that it returns to, and the node
// of the call around it; node 0 is the root, outside of all. Numbers are those of one process; a
// forked process inherits its parent's, and its own first new number is above all of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright::trace {

namespace record {
constexpr std::uint16_t moduleLoaded = 1; ///< in blocks of modules
constexpr std::uint16_t stackNodes = 1;   ///< in blocks of stacks
} // namespace record

/// record::moduleLoaded; the build-id and the path follow, `buildIdLength` and `pathLength` bytes.
/// A later record with the same `begin` takes the place of an earlier one.
struct ModuleLoaded {
    std::uint64_t begin; ///< what is mapped of it
    std::uint64_t end;
    std::uint64_t bias;     ///< address in memory − address in the file
    std::uint64_t seen;     ///< ticks since the start: when its first address was met
    std::uint64_t unloaded; ///< ticks; 0 = it stayed. Written when it is known
    std::uint32_t buildIdLength;
    std::uint32_t pathLength;
};
static_assert(sizeof(ModuleLoaded) == 48);

/// One call. All zero: not written.
struct StackNode {
    std::uint32_t parent;
    std::uint32_t addressLow;
    std::uint16_t addressHigh;
    std::uint16_t written; ///< 1, stored last
};
static_assert(sizeof(StackNode) == 12);

/// record::stackNodes; `count` nodes follow, whose numbers begin with `first`.
struct StackNodes {
    std::uint32_t first;
    std::uint32_t count;
};
static_assert(sizeof(StackNodes) == 8);

/// In the place of an address: the outer part of this chain was too long and is left out.
constexpr std::uint64_t cutAddress = 1;

} // namespace heapwright::trace

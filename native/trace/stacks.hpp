// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The records of the blocks that state where memory was requested. They are the table of chains of
// calls, and the objects that their addresses lie in. FORMAT.md says the same in words;
// stack_nodes.hpp has the coding of the calls.
//
// A chain is a path in a tree. Each node is one call. It has the address that the call returns to,
// and the node of the call around it. Node 0 is the root, outside of all. Numbers are those of one
// process; a forked process inherits its parent's, and its own first new number is above all of
// them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright::trace {

namespace record {
constexpr std::uint16_t moduleLoaded = 1;    ///< in blocks of modules
constexpr std::uint16_t interpretedCode = 2; ///< in blocks of modules
constexpr std::uint16_t stackNodes = 1;      ///< in blocks of stacks
constexpr std::uint16_t compiledCode = 6;    ///< in system blocks
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

/// record::interpretedCode: a function of an interpreter. Its name, the path of its file and its
/// table of lines follow, `nameLength`, `fileLength` and `tableLength` bytes. An address of a node
/// is one more than the number that says where the call was made.
struct InterpretedCode {
    std::uint64_t begin; ///< numbers: `begin` is before the first instruction, the next is that
    std::uint64_t end;
    std::uint32_t firstLine;
    std::uint32_t nameLength;
    std::uint32_t fileLength;
    std::uint32_t tableLength; ///< CPython's co_linetable since 3.11; 0 = lines are not known
};
static_assert(sizeof(InterpretedCode) == 32);

/// record::compiledCode: a function that a JIT compiler made in memory, as the process wrote it to
/// its perf map. The name follows, up to the end of the record.
struct CompiledCode {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint32_t process;
    std::uint32_t unused;
};
static_assert(sizeof(CompiledCode) == 24);

/// The first number of interpreted code: no code of a process lies there.
constexpr std::uint64_t firstInterpreted = std::uint64_t{1} << 47U;

/// record::stackNodes; nodes follow, one after the other, up to a zero byte or the record's end.
struct StackNodes {
    std::uint32_t first; ///< number of the first
    std::uint32_t unused;
};
static_assert(sizeof(StackNodes) == 8);

/// One call. Its parent's number is smaller than its own.
struct StackNode {
    std::uint32_t number;
    std::uint32_t parent;
    std::uint64_t address; ///< 48 bits
};

/// In the place of an address: the outer part of this chain was too long and is left out.
constexpr std::uint64_t cutAddress = 1;

} // namespace heapwright::trace

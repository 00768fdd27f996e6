// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The number of a call chain, and the functions of the recorder that the unwinder calls.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright::recorder::stacks {

using StackId = std::uint32_t;

inline constexpr StackId noStack = 0;

/// Two kinds of blocks of the trace are written here.
enum class Table : std::uint8_t { stacks, modules };

/// What the recorder lends.
struct Host {
    /// A new block of `bytes` (4 KiB times a power of two) for that table of this process. Its
    /// header is filled in and open. Null if the trace accepts no more blocks.
    void* (*claim)(Table table, std::size_t bytes) noexcept;
    /// Such a block is full and sealed: it need not stay in memory.
    void (*release)(void* block, std::size_t bytes) noexcept;
    /// The time as events are stamped with it.
    std::uint64_t (*now)() noexcept;
    /// A table has been made in memory that was mapped for it. Null: it need not be known.
    void (*mapped)(const void* pages, std::size_t bytes) noexcept = nullptr;
    /// Whether chains name the functions of Python. Their names are in blocks of the modules.
    bool python = false;
};

} // namespace heapwright::recorder::stacks

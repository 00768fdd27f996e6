// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Detects, from addresses, false sharing that the allocator causes. Thread T receives a block that
// touches a cache line with a live object that another thread allocated: the allocator has shared
// the line. This is *passive* if T itself had freed this block after the program had passed it to
// T, and *active* otherwise. Objects of one thread never count, and neither do lines that the
// program shares by passing objects. Only the placement of a block counts.
//
// Objects at risk. A thread receives them from an aligned stretch of `riskSpan` bytes, the
// published size of a superblock. The stretch contains live objects of other threads, on any line.
//
// Not thread-safe: the caller holds a lock while it records.
#pragma once

#include "table.hpp"

#include <cstddef>
#include <cstdint>

namespace heapwright::workloads {

using ThreadNumber = std::uint32_t; ///< of a live thread; never reused, never 0

class Lines {
public:
    static constexpr std::size_t lineSize = 64;
    static constexpr std::size_t riskSpan = 8192;

    /// The counts.
    struct Found {
        std::uint64_t active =
            0; ///< lines that a malloc started to share actively: (malloc, line) pairs
        std::uint64_t passive = 0; ///< the same, passively
        std::uint64_t objects = 0; ///< mallocs that shared any line
        std::uint64_t lines = 0;   ///< different lines that were ever shared
        std::uint64_t atRisk = 0;  ///< mallocs from a stretch with live objects of other threads
        std::uint64_t mallocs = 0;
    };

    /// `thread` has received a block.
    void born(std::uintptr_t address, std::size_t size, ThreadNumber thread);

    /// `thread` is about to free a block that `allocator` received. Returns the value for `stays`.
    ThreadNumber dies(std::uintptr_t address, std::size_t size, ThreadNumber allocator,
                      ThreadNumber thread);

    /// The block for which `dies` returned `handed` stays in place, because a realloc did not move
    /// it. It is still its allocator's, without a new placement.
    void stays(std::uintptr_t address, std::size_t size, ThreadNumber allocator,
               ThreadNumber handed);

    const Found& found() const { return found_; }

private:
    /// The owners of the live objects in a line: at most 8 objects of 8 bytes and one that extends
    /// into it.
    struct Line {
        static constexpr std::size_t most = 9;
        ThreadNumber allocator[most]; ///< of each live object; 0: none
        bool shared;                  ///< it was ever shared
    };

    void enter(std::uintptr_t address, std::size_t size, ThreadNumber allocator);
    void leave(std::uintptr_t address, std::size_t size, ThreadNumber allocator);

    Table<Line> lines_;
    Table<std::uint32_t> stretches_; ///< number of live objects by stretch
    Table<std::uint32_t> mine_;      ///< by stretch and allocating thread
    /// By block: the thread that received it from the program and freed it.
    Table<ThreadNumber> handed_;
    Found found_;
};

} // namespace heapwright::workloads

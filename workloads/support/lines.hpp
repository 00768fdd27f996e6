// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// False sharing that the allocator brings about, found from addresses. When thread T is given a
// block that touches a cache line in which a live object stands that another thread allocated, the
// line is shared through the allocator. *Passively* if T itself had freed this very block after the
// program had handed it over to T, *actively* otherwise. What one thread allocates never counts,
// nor does what the program itself shares by handing objects over: only where a block was placed.
//
// Objects at risk are those that a thread is given from an aligned stretch of `riskSpan` bytes (the
// published size of a superblock) in which live objects of other threads stand, on whatever line.
//
// Not thread-safe: the caller holds a lock while it records.
#pragma once

#include "table.hpp"

#include <cstddef>
#include <cstdint>

namespace heapwright::workloads {

using ThreadNumber = std::uint32_t; ///< of a live thread; never given twice, never 0

class Lines {
public:
    static constexpr std::size_t lineSize = 64;
    static constexpr std::size_t riskSpan = 8192;

    /// What was found.
    struct Found {
        std::uint64_t active =
            0; ///< lines that a malloc began to share, actively: (malloc, line) pairs
        std::uint64_t passive = 0; ///< and passively
        std::uint64_t objects = 0; ///< mallocs that shared a line at all
        std::uint64_t lines = 0;   ///< different lines that were ever shared
        std::uint64_t atRisk = 0;  ///< mallocs from a stretch with live objects of other threads
        std::uint64_t mallocs = 0;
    };

    /// `thread` has been given a block.
    void born(std::uintptr_t address, std::size_t size, ThreadNumber thread);

    /// `thread` is about to give back a block that `allocator` was given. Answers what `stays`
    /// needs.
    ThreadNumber dies(std::uintptr_t address, std::size_t size, ThreadNumber allocator,
                      ThreadNumber thread);

    /// The block that `dies` answered `handed` for is still where it was, for a realloc did not
    /// move it: still its allocator's, and placed by nobody anew.
    void stays(std::uintptr_t address, std::size_t size, ThreadNumber allocator,
               ThreadNumber handed);

    const Found& found() const { return found_; }

private:
    /// Whose live objects stand in a line: at most 8 of 8 bytes and one that reaches into it.
    struct Line {
        static constexpr std::size_t most = 9;
        ThreadNumber allocator[most]; ///< of each live object; 0 where there is none
        bool shared;                  ///< it was, once
    };

    void enter(std::uintptr_t address, std::size_t size, ThreadNumber allocator);
    void leave(std::uintptr_t address, std::size_t size, ThreadNumber allocator);

    Table<Line> lines_;
    Table<std::uint32_t> stretches_; ///< live objects by stretch
    Table<std::uint32_t> mine_;      ///< and by stretch and allocating thread
    Table<ThreadNumber> handed_;     ///< by block: to whom it was handed over and who freed it
    Found found_;
};

} // namespace heapwright::workloads

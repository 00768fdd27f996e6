// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of a stopped process: the ranges that may hold its pointers, and their contents. It
// needs the right to trace the process. The same user usually has it.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace heapwright::leakscan {

struct Range {
    std::uint64_t begin;
    std::uint64_t end;
    bool ofCLibrary = false; ///< data of the C library, with the links of its free blocks
};

/// The memory that a search needs.
class Memory {
public:
    virtual ~Memory() = default;

    /// The ranges in which a search begins. They are writable ones, and read-only ones with pages
    /// that the process has written, such as a table that was sealed with mprotect. Shared file
    /// mappings are left out. Of the first thread's stack only the used part.
    virtual std::vector<Range> written() const = 0;

    /// All readable ranges, ascending.
    virtual std::vector<Range> readable() const = 0;

    /// Reads as many words as possible from the address, at most `most`.
    virtual std::size_t read(std::uint64_t address, std::uint64_t* words,
                             std::size_t most) const = 0;
};

class ProcessMemory final : public Memory {
public:
    /// Throws std::system_error if the process cannot be accessed.
    explicit ProcessMemory(pid_t pid);
    ~ProcessMemory() override;
    ProcessMemory(const ProcessMemory&) = delete;
    ProcessMemory& operator=(const ProcessMemory&) = delete;

    /// A range in which no search begins, such as the recorder's own memory.
    void leaveOut(const Range& range) { leftOut_.push_back(range); }

    std::vector<Range> written() const override;
    std::vector<Range> readable() const override;
    std::size_t read(std::uint64_t address, std::uint64_t* words, std::size_t most) const override;

    /// The words that the kernel keeps for the program: the data of its epoll sets. A server often
    /// has the only pointer to a connection there.
    std::vector<std::uint64_t> ofKernel() const;

private:
    std::uint64_t stackPointer() const;

    std::string folder_;
    int file_;
    std::vector<Range> leftOut_;
};

} // namespace heapwright::leakscan

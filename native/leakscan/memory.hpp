// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of a process that waits: which of it may be written, and what stands there. It needs
// the right to trace the process, which its own user has of a process that allows it.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace heapwright::leakscan {

struct Range {
    std::uint64_t begin;
    std::uint64_t end;
};

/// What a search asks of memory.
class Memory {
public:
    virtual ~Memory() = default;

    /// What may be written, but for files mapped to be shared. Of the first thread's stack only
    /// what is in use.
    virtual std::vector<Range> writable() const = 0;

    /// All that may be read, ascending.
    virtual std::vector<Range> readable() const = 0;

    /// As many words as can be read from there, `most` at most.
    virtual std::size_t read(std::uint64_t address, std::uint64_t* words,
                             std::size_t most) const = 0;
};

class ProcessMemory final : public Memory {
public:
    /// Throws std::system_error if the process may not be looked into.
    explicit ProcessMemory(pid_t pid);
    ~ProcessMemory() override;
    ProcessMemory(const ProcessMemory&) = delete;
    ProcessMemory& operator=(const ProcessMemory&) = delete;

    std::vector<Range> writable() const override;
    std::vector<Range> readable() const override;
    std::size_t read(std::uint64_t address, std::uint64_t* words, std::size_t most) const override;

private:
    std::uint64_t stackPointer() const;

    std::string folder_;
    int file_;
};

} // namespace heapwright::leakscan

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The trace as the outside watcher uses it: to learn which processes write into it, and to add
// blocks. It claims blocks like the recorders.
#pragma once

#include "recorder/file.hpp"
#include "trace/layout.hpp"

#include <cstdint>
#include <sys/types.h>
#include <vector>

namespace heapwright::recorder::watch {

/// A process that has said in the trace that it writes there.
struct Started {
    std::uint32_t process;
    pid_t pid;
};

class TraceFile {
public:
    TraceFile() = default;
    ~TraceFile();
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;

    /// False if there is no such file, it is no trace, or its clock cannot be read from outside.
    bool open(const char* path);

    /// Ticks since the trace began.
    std::uint64_t ticks() const;

    /// The processes that have appeared since the last call. Looks at the headers of blocks alone.
    void follow(std::vector<Started>& found);

    /// Memory for a new block, mapped and zero; null if the trace may not grow further.
    void* claim(unsigned sizeShift);

    static void release(trace::BlockHeader* block);

    dev_t device() const { return device_; }
    ino_t inode() const { return inode_; }

private:
    bool read(std::uint64_t offset, void* into, std::size_t size) const;
    bool readStarts(std::uint64_t offset, const trace::BlockHeader& block,
                    std::vector<Started>& found) const;

    int file_ = -1;
    recorder::TraceFile blocks_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
    std::uint64_t next_ = trace::pageSize; ///< offset of the first block not read yet
    unsigned patience_ = 0;                ///< reads of that block while it was empty
    std::vector<std::uint64_t> silent_;    ///< blocks of processes without a process block
};

} // namespace heapwright::recorder::watch

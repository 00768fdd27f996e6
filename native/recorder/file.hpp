// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The trace's file as the recorder uses it. Its header page stays mapped. Blocks are claimed,
// mapped one by one and unmapped again. A page is written only after the file system has promised
// its space. On a full disk the write would raise SIGBUS instead of an error.
//
// Invariant: only a file that begins with a trace's header is touched. The program may close the
// recorder's descriptor and reuse its number. Therefore the descriptor is compared before each use,
// and the file is reopened by its path if the descriptor is gone. Nothing allocates, and errno is
// kept.
// Cost: three system calls for each block, one more for each mebibyte of the file.
#pragma once

#include "trace/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <heapwright/platform/output.hpp>

namespace heapwright::recorder {

class TraceFile {
public:
    /// Null unless the path leads to a trace that is to be written.
    bool open(const char* path) noexcept;

    /// Closes the descriptor, unless its number now belongs to another file.
    void close() noexcept;

    [[nodiscard]] trace::FileHeader* header() const noexcept { return header_; }

    /// Returns `bytes` of the file, mapped and zero. Returns null if the file has no more room;
    /// recording has then stopped for all processes that share the file.
    void* claim(std::size_t bytes) noexcept;

    /// Gives up the mapping, not what was written.
    static void unmap(void* block, std::size_t bytes) noexcept;

private:
    bool reserve(std::uint64_t begin, std::uint64_t end) noexcept;
    bool promise(std::uint64_t begin, std::uint64_t end) noexcept;
    bool fill(std::uint64_t begin, std::uint64_t end) noexcept;
    bool ensureDescriptor() noexcept;
    void stop(trace::Stop why) noexcept;

    trace::FileHeader* header_ = nullptr;
    int descriptor_ = -1;
    platform::FileIdentity identity_;
    char path_[4096] = {};
};

} // namespace heapwright::recorder

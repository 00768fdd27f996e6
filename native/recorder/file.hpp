// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The trace's file as the recorder uses it: its header page stays mapped, blocks are claimed,
// mapped one by one and given up again. Nothing is written to a page that the file system has not
// promised first, for on a full disk that would be SIGBUS instead of an error.
//
// Invariants: only a file that begins with a trace's header is ever touched. The program may close
// our descriptor and get its number for something of its own, so it is compared before each use and
// opened anew by its path when it is gone. Nothing allocates, errno is kept. Cost: three calls to
// the system for each block, one more for each mebibyte of the file.
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

    [[nodiscard]] trace::FileHeader* header() const noexcept { return header_; }

    /// `bytes` of the file, mapped and zero; null when there are no more, and recording has
    /// stopped for all who share the file.
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

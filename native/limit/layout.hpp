// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The counts of a process: one page, maybe in a file that `heapwright limit` made. The file has a
// page for itself and one for each program image. A page stays in the file after SIGKILL, so the
// counts of a killed process are complete. src/heapwright/limit/counts.py reads it.
//
// Invariant: each thread alone writes its own line. The line of the process, and the last line, for
// threads without a line, are written atomically once there are several threads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright::limit {

inline constexpr char fileMagic[8] = {'H', 'W', 'L', 'I', 'M', 'I', 'T', '1'};
inline constexpr char fileVariable[] = "HEAPWRIGHT_LIMIT";

enum class Cause : std::uint32_t { start = 0, fork = 1, exec = 2 };

struct FileHeader {
    char magic[8];
    std::uint32_t pages; ///< of processes, that there is room for
    std::uint32_t taken; ///< of these; more than `pages` if some processes have none
};

struct alignas(64) ProcessLine {
    std::uint32_t pid; ///< 0: the page is not in use
    Cause cause;
    std::uint32_t exact; ///< sizes are requested sizes; 0: usable sizes
    std::uint32_t reserved;
    std::uint64_t linesInUse; ///< a bit for each thread's line
    std::int64_t live;        ///< bytes, without the `pending` of threads
    std::int64_t peak;        ///< of `live`
    char command[24];         ///< the start of the program's name
};

struct alignas(64) ThreadLine {
    std::uint64_t allocations;
    std::uint64_t bytes;
    std::uint64_t frees;
    std::int64_t pending; ///< bytes that `live` lacks yet
};

inline constexpr std::size_t ownLines = 62;

struct Page {
    ProcessLine process;
    ThreadLine threads[ownLines];
    ThreadLine others; ///< of all threads without a line
};

inline constexpr std::size_t pageBytes = 4096;
static_assert(sizeof(Page) == pageBytes);
static_assert(sizeof(FileHeader) <= pageBytes);

} // namespace heapwright::limit

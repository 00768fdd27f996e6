// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads files below /proc. They are the `stat` line of a process, the page count of an open
// `statm`, and the path of its program. Single numbers of system tables are read too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

namespace heapwright::runner {

struct ProcessStat {
    pid_t parent = 0;
    char state = '?';
    bool dead() const { return state == 'Z' || state == 'X'; }
};

std::optional<ProcessStat> readStat(pid_t pid);

/// The path of the program, "" if it cannot be read.
std::string readExe(pid_t pid);

/// A descriptor for `residentBytes`. It stays bound to this process, even if the pid is reused.
int openStatm(pid_t pid);

/// Nothing after the process has ended; 0 while it is ending.
std::optional<std::int64_t> residentBytes(int statm);

/// Reads at most `size - 1` bytes of a small file and adds a zero byte. Returns the count, or -1.
long readSmall(const char* path, char* buffer, std::size_t size);

/// The number after a word at the beginning of a line, as in `oom_kill 3`.
std::optional<std::int64_t> numberAfter(const char* path, const char* word);

} // namespace heapwright::runner

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the harness reads below /proc: the line `stat` of a process, the page count of an open
// `statm`, the path of its program, and single numbers of the system's own tables.
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

/// A descriptor for `residentBytes`; it stays with this very process, whoever gets the pid later.
int openStatm(pid_t pid);

/// Nothing once the process is gone; 0 while it is dying.
std::optional<std::int64_t> residentBytes(int statm);

/// At most `size - 1` bytes of a small file, with a zero byte behind them; the count, or -1.
long readSmall(const char* path, char* buffer, std::size_t size);

/// The number behind the word at a line's beginning, as in `oom_kill 3`.
std::optional<std::int64_t> numberAfter(const char* path, const char* word);

} // namespace heapwright::runner

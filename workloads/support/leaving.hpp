// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The ends that a workload can come to besides a good one, each with a sentence on standard error
// and a status of its own. They end the process at once: no destructor runs on a heap that is
// broken or empty.
#pragma once

#include <cstddef>

namespace heapwright::workloads {

enum class Status { Fine = 0, NotVerified = 1, Usage = 2, NoMemory = 3 };

/// The program's name, as messages begin with it. Set once, first of all.
void setProgramName(const char* name);
const char* programName();

/// What an allocator could not give, or the system for the program itself.
[[noreturn]] void noMemory(const char* what, std::size_t bytes);

/// A thread or process that could not be started.
[[noreturn]] void notStarted(const char* what, unsigned index, unsigned of, int error);

/// Standard output does not take the result.
[[noreturn]] void notWritten();

/// What was asked for cannot be done.
[[noreturn]] void usageError(const char* what, const char* argument);

/// The allocator gave memory that it must not have given. `format` as printf has it.
[[noreturn]] __attribute__((format(printf, 1, 2))) void notVerified(const char* format, ...);

} // namespace heapwright::workloads

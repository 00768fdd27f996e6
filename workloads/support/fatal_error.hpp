// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Ends a workload with a message on standard error and an exit status of its own. No destructor
// runs, because the heap may be broken or out of memory.
#pragma once

#include <cstddef>

namespace heapwright::workloads {

enum class Status { Fine = 0, NotVerified = 1, Usage = 2, NoMemory = 3 };

/// The program's name, as messages begin with it. Set once, first of all.
void setProgramName(const char* name);
const char* programName();

/// The allocator, or the system on behalf of the workload, returned no memory.
[[noreturn]] void noMemory(const char* what, std::size_t bytes);

/// A thread or process that could not be started.
[[noreturn]] void notStarted(const char* what, unsigned index, unsigned of, int error);

/// The result could not be written.
[[noreturn]] void notWritten();

/// The command line is invalid.
[[noreturn]] void usageError(const char* what, const char* argument);

/// The allocator violated its contract. `format` is a printf format.
[[noreturn]] __attribute__((format(printf, 1, 2))) void notVerified(const char* format, ...);

} // namespace heapwright::workloads

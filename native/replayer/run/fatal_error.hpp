// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Ends the replay with a message on standard error and an exit status. No destructor and no exit
// handler runs, because the allocator under test may be broken or out of memory.
#pragma once

#include <cstddef>

namespace heapwright::replayer {

enum class Status { fine = 0, notVerified = 1, usage = 2, noMemory = 3 };

/// `format` is a printf format.
[[noreturn]] __attribute__((format(printf, 2, 3))) void fatalError(Status status,
                                                                   const char* format, ...);

/// Writes the whole text to a descriptor. Failure ends the process.
void writeAll(int descriptor, const char* text, std::size_t length);

} // namespace heapwright::replayer

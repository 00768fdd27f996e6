// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The ends that a replay can come to besides a good one: a sentence on standard error and a status.
// They end the process at once, for the allocator may be broken or empty.
#pragma once

#include <cstddef>

namespace heapwright::replayer {

enum class Status { fine = 0, notVerified = 1, usage = 2, noMemory = 3 };

/// `format` as printf has it.
[[noreturn]] __attribute__((format(printf, 2, 3))) void leave(Status status, const char* format,
                                                              ...);

/// Writes all of it to a descriptor; leaves if that takes no more.
void writeAll(int descriptor, const char* text, std::size_t length);

} // namespace heapwright::replayer

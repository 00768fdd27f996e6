// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes the memory of another process, which is running or stopped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace heapwright::attach {

using Address = std::uint64_t;

/// Returns false if any byte could not be copied.
bool readMemory(pid_t pid, Address at, void* to, std::size_t bytes) noexcept;
bool writeMemory(pid_t pid, Address at, const void* from, std::size_t bytes) noexcept;

} // namespace heapwright::attach

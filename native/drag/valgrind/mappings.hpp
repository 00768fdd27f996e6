// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Code that a process has mapped after its start, from the system's list.
#pragma once

#include "drag/account/modules.hpp"

#include <cstdint>
#include <sys/types.h>

namespace heapwright::drag {

/// Adds the file from which `address` of a process is mapped; false if there is none.
bool addMappingOf(pid_t process, std::uint64_t address, Modules& modules);

} // namespace heapwright::drag

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Code that a process has mapped since it began, as the system lists it.
#pragma once

#include "drag/account/modules.hpp"

#include <cstdint>
#include <sys/types.h>

namespace heapwright::drag {

/// Adds the file that `address` of a process is mapped from; false if there is none.
bool addMappingOf(pid_t process, std::uint64_t address, Modules& modules);

} // namespace heapwright::drag

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What differs between a recorder that is preloaded (lifetime.cpp) and one that is loaded into a
// running process (attached/agent.cpp).
#pragma once

#include "trace/layout.hpp"

#include <string_view>

namespace heapwright::recorder::entry {

/// Where dlsym begins its search for the allocator: RTLD_NEXT or RTLD_DEFAULT.
extern void* const allocatorScope;

/// The path of the trace, with a zero byte behind it; empty if there is none.
std::string_view tracePath() noexcept;

/// Whether this process is the one that the launcher records, and not a child of it.
bool isLaunched(const trace::FileHeader& header) noexcept;

/// Whether recording ends now because its launcher has died. Called before each new block.
bool isAbandoned(trace::FileHeader& header) noexcept;

} // namespace heapwright::recorder::entry

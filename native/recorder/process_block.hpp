// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The block in which a process describes itself: its start, its program, its arguments, and its
// regular end.
//
// Cost: five system calls at the start of a process.
#pragma once

#include "trace/layout.hpp"

namespace heapwright::recorder {

/// The path and the arguments are found out and follow; they are cut where the block ends.
void writeProcessStart(trace::BlockHeader& block, trace::ProcessStart start) noexcept;

/// Left out if the block has room for the end of the process alone.
void writeRecorderMemory(trace::BlockHeader& block, const trace::RecorderMemory& memory) noexcept;

void writeProcessEnd(trace::BlockHeader& block, const trace::ProcessEnd& end) noexcept;

} // namespace heapwright::recorder

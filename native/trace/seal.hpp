// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Gives a checksum to the blocks that their writers left open, so that a reader finds later damage
// in them. Each thread leaves its last block open if it runs until the process ends.
#pragma once

#include <cstddef>
#include <string>

namespace heapwright::trace {

/// Returns the number of sealed blocks. A block whose events cannot be decoded stays open. Pre:
/// nothing writes to the trace. Throws TraceError; std::system_error if the file cannot be read or
/// written. Cost: one decoding of each open block.
std::size_t sealOpenBlocks(const std::string& path);

} // namespace heapwright::trace

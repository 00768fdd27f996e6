// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What heapwright-record says at the end, as one JSON object on the descriptor that it was given.
#pragma once

#include "command.hpp"
#include "options.hpp"
#include "trace_file.hpp"

namespace heapwright::recorder::launch {

/// Counts what is in the closed trace and writes it; nothing if no descriptor was given.
void writeSummary(const Options& options, const NewTrace& trace, const Ending& ending);

} // namespace heapwright::recorder::launch

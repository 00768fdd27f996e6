// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps the names of JIT-compiled functions in the trace. A process writes them to
// /tmp/perf-PID.map, which may vanish after its end.
#pragma once

#include "trace_file.hpp"

namespace heapwright::recorder::launch {

/// Adds the functions that calls of the trace lie in. Reads only files of this user that changed
/// after the recording began. Pre: the recorded processes have ended, or nothing waits for them.
/// Post: a trace without such files is not read at all. A map that cannot be read adds nothing.
void keepPerfMaps(NewTrace& trace, const char* path);

} // namespace heapwright::recorder::launch

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of heapwright-trace. Each takes a file and writes its answer to a stream; errors are
// thrown.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "trace/reader.hpp"

namespace heapwright::trace {

/// What is known of a trace without decoding it, as one JSON object.
void printInfo(const Trace& trace, std::FILE* out);

/// Decodes everything and reports, as one JSON object, the unusable parts. True if there are none.
bool printCheck(const Trace& trace, std::FILE* out);

/// Events in time order as columns, in chunks: docs/reference/trace.md describes the bytes.
void writeColumns(const Trace& trace, const Selection& selection, std::FILE* out);

/// Reads another format (wl, mtrace, mtrace-text, android) into a new trace, and reports as JSON
/// the numbers of events, of threads and of unusual events.
void importFile(const std::string& format, const std::string& from, const std::string& to,
                std::FILE* out);

/// Writes a trace as a .wl workload.
void exportWl(const Trace& trace, const Selection& selection, const std::string& to,
              std::FILE* out);

} // namespace heapwright::trace

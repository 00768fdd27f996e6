// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Feeds a trace's calls to a profiler.
#pragma once

#include <cstdint>

#include "profiler/profiler.hpp"
#include "trace/reader.hpp"

namespace heapwright::profiler {

/// All calls of a process, or of all of them, in the order of times. A long trace is decoded by a
/// second thread where there is a second processor.
void pass(const trace::Trace& trace, std::uint32_t process, Profiler& profiler);

} // namespace heapwright::profiler

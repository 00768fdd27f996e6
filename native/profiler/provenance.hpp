// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a profile comes from: the file, the processes in it, and what could not be read.
#pragma once

#include <cstdint>

#include "profiler/json.hpp"
#include "profiler/profiler.hpp"
#include "trace/reader.hpp"

namespace heapwright::profiler {

/// What the pass should know before it begins. A process that is not selected has no events.
Plan planOf(const trace::Trace& trace, std::uint32_t selected);

/// The value of `provenance`; `selected` is a process, or all.
void writeProvenance(Json& json, const trace::Trace& trace, std::uint32_t selected,
                     const Profiler& profiler);

} // namespace heapwright::profiler

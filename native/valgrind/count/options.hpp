// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of heapwright-count.
#pragma once

#include "valgrind/lackey/options.hpp"

#include <cstdint>
#include <optional>

namespace heapwright::valgrind {

extern const ProgramText programText;

struct Options : LogOptions {
    std::uint64_t traceBytes = std::uint64_t{4} << 30;
};

/// Returns nothing, after a message on standard error, if the command line is invalid.
std::optional<Options> parseOptions(int count, char** arguments);

} // namespace heapwright::valgrind

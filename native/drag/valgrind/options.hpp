// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of heapwright-drag.
#pragma once

#include "valgrind/lackey/options.hpp"

#include <optional>

namespace heapwright::drag {

extern const valgrind::ProgramText programText;

struct Options : valgrind::LogOptions {
    int calls = 12; ///< that are kept of a chain
};

/// Nothing, and a line on standard error that says why, when the command line is wrong.
std::optional<Options> parseOptions(int count, char** arguments);

} // namespace heapwright::drag

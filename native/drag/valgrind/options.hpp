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
    int calls = 12; ///< maximum length of a stored chain
};

/// Returns nothing, after a message on standard error, if the command line is invalid.
std::optional<Options> parseOptions(int count, char** arguments);

} // namespace heapwright::drag

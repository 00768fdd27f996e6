// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The exported functions of an object that another process has loaded, read from its memory. So the
// answer is right for a file that was replaced since.
#pragma once

#include "memory.hpp"

#include <map>
#include <string>

namespace heapwright::attach {

struct Function {
    Address begin = 0;
    Address end = 0;
};

struct Symbols {
    std::map<std::string, Function> functions;
    Address textBegin = 0; ///< of the executable segments
    Address textEnd = 0;
    Address end = 0; ///< of the object
};

/// Pre: an object begins at `base`. Post: what could be read, which may be nothing.
Symbols readSymbols(pid_t pid, Address base);

} // namespace heapwright::attach

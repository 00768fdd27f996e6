// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The program to execute as valgrind. `valgrind` itself is a launcher, often behind a shell script.
// A library preloaded into the command would also be preloaded into both, and an allocator that
// cannot serve a shell would fail there. The tool that the launcher executes is linked statically,
// so it is executed directly if it is found; otherwise the launcher is.
#pragma once

#include <string>

namespace heapwright::valgrind {

struct Tool {
    std::string launcher; ///< the full path of valgrind; empty if there is none
    std::string program;  ///< the tool, or the launcher again
};

Tool findTool();

} // namespace heapwright::valgrind

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Which program to execute as valgrind. `valgrind` itself is a launcher, often behind a shell
// script, and what is preloaded into the command would be preloaded into both: an allocator that
// serves the command and not a shell would fail there. The tool that the launcher becomes is linked
// statically, so it is executed directly where it is found; elsewhere the launcher is.
#pragma once

#include <string>

namespace heapwright::valgrind {

struct Tool {
    std::string launcher; ///< the full path of valgrind; empty if there is none
    std::string program;  ///< the tool, or the launcher again
};

Tool findTool();

} // namespace heapwright::valgrind

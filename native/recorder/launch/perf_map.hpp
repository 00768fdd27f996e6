// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads a perf map: the text file in which a process names the code that its JIT compiler made. A
// line has the begin and the size in hexadecimal, and the name.
// Source: tools/perf/Documentation/jit-interface.txt of Linux.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace heapwright::recorder::launch {

/// One function of a map.
struct MappedCode {
    std::uint64_t begin;
    std::uint64_t end;
    std::string name;
};

/// The functions that one of the addresses lies in, each once, by where they begin. `addresses` are
/// ascending. Of several functions at one address the last one counts, because compilers use memory
/// again. Lines that are damaged are skipped. Memory is that of the answer.
std::vector<MappedCode> readPerfMap(std::FILE* file, const std::vector<std::uint64_t>& addresses);

} // namespace heapwright::recorder::launch

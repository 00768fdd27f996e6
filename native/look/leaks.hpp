// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Live blocks to which no pointer leads, by the search of leakscan. It begins in all written memory
// outside of the heap, and on the used parts of stacks. A running process moves pointers during the
// search, so only a block that two searches miss is a candidate. A number that looks like a pointer
// may hide a lost block. A pointer that the program stores in another form makes a wrong candidate.
// Cost: 64 bytes for each live block, and one read of all written memory for each search.
#pragma once

#include "heap.hpp"
#include "mapped.hpp"

#include <vector>

namespace heapwright::look {

struct LostBlock {
    Address at; ///< of the object
    std::uint64_t bytes;
    std::uint64_t first; ///< its first word, often the address of a table of virtual functions
};

struct Leaks {
    std::uint64_t blocks = 0; ///< searched
    std::uint64_t bytes = 0;
    bool isComplete = true;      ///< false: there were too many blocks, and nothing was searched
    std::vector<LostBlock> lost; ///< ascending
};

/// What a search begins with besides memory.
struct Roots {
    std::vector<Address> stackPointers;
    std::vector<std::uint64_t> registers;
};

Leaks findLeaks(const Image& image, const Glibc& glibc, const HeapAccount& account,
                const std::vector<MappedChunk>& mapped, const Roots& roots);

/// The blocks that both searches missed.
void keepCommon(Leaks& leaks, const Leaks& other);

/// The stack pointers of the threads of a process that wait in a system call. None if there are
/// too many threads.
std::vector<Address> stackPointers(pid_t pid);

} // namespace heapwright::look

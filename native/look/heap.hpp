// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The account of glibc's arenas: what is live, what is free, and what `malloc_trim(0)` would
// release. That call first merges the chunks of the fast bins with their free neighbours. It then
// releases the whole pages inside free chunks of all arenas, and those of the main arena's top. It
// releases nothing of the caches of threads and of the top of other arenas.
// Source: mtrim, malloc_consolidate and systrim in malloc/malloc.c of glibc.
#pragma once

#include "caches.hpp"
#include "walk.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace heapwright::look {

struct Blocks {
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0; ///< usable

    void add(std::uint64_t size) {
        ++blocks;
        bytes += size - 8;
    }
};

struct ArenaAccount {
    Arena arena;
    std::uint64_t heaps = 0;
    std::uint64_t bytes = 0;    ///< of its segments
    std::uint64_t resident = 0; ///< of its segments
    Blocks inUse;               ///< live, cached by threads or in fast bins
    Blocks cachedByThreads;
    Blocks fast;
    Blocks free;                   ///< in bins
    std::uint64_t wholePages = 0;  ///< resident bytes of pages inside free chunks, but the top
    std::uint64_t topBytes = 0;    ///< of the chunk
    std::uint64_t topResident = 0; ///< whole pages
    std::uint64_t released = 0;    ///< by malloc_trim(0), resident bytes
    std::uint64_t lostBytes = 0;   ///< not recognised
    unsigned repeats = 0;

    Blocks live() const {
        return {inUse.blocks - std::min(inUse.blocks, cachedByThreads.blocks + fast.blocks),
                inUse.bytes - std::min(inUse.bytes, cachedByThreads.bytes + fast.bytes)};
    }
};

struct HeapAccount {
    std::vector<ArenaAccount> arenas;
    std::vector<Segment> segments; ///< ascending
    ChunkSizes cached;             ///< by threads, or in fast bins
    std::vector<Address> tables;   ///< chunks that are the tables of thread caches
};

HeapAccount accountOf(const Image& image, const Glibc& glibc);

/// All live chunks of the arenas, ascending. At most `most`; the flag says whether there were more.
std::pair<std::vector<Chunk>, bool> liveChunks(const Image& image, const HeapAccount& account,
                                               std::size_t most);

} // namespace heapwright::look

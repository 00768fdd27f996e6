// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Walks the chunks of glibc's heaps, one after the other by their sizes. The next chunk has
// the bit that a chunk is in use. A running program changes its heaps meanwhile, so a walk may
// arrive inside a chunk. It recognises this by the alignment, flags and length of what it reads
// there. Cost: one read of each resident page, and none of memory in proportion to the heap.
#pragma once

#include "glibc.hpp"

#include <vector>

namespace heapwright::look {

/// A stretch of chunks of one arena.
struct Segment {
    std::size_t arena = 0; ///< index
    Address begin = 0;
    Address end = 0; ///< no chunk ends behind it
    Address top = 0; ///< the arena's top chunk if it is here, else 0
    Address arenaAt = 0;
};

struct Chunk {
    Address at;
    std::uint64_t size;
    bool isInUse; ///< also if the allocator caches it
};

class Visitor {
public:
    virtual ~Visitor() = default;
    /// Starts a segment, maybe once more after a walk that failed.
    virtual void begin(const Segment& segment) = 0;
    virtual void chunk(const Chunk& chunk) = 0;
    /// The top chunk, or the end of a segment that has none (size 0).
    virtual void end(Address at, std::uint64_t topSize) = 0;
};

struct WalkResult {
    std::uint64_t lostBytes = 0; ///< stretches in which no chunk was recognised
    unsigned repeats = 0;        ///< walks that failed and began again
};

/// The segments of all arenas.
std::vector<Segment> segmentsOf(const Image& image, const Glibc& glibc);

/// Walks a segment, at most four times. The last time skips what is not recognised.
WalkResult walk(const Image& image, const Segment& segment, bool isMain, Visitor& visitor);

} // namespace heapwright::look

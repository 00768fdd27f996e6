// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks to which glibc gave mappings of their own. Each begins a page with a header. It has the
// flag IS_MMAPPED, and its size is whole pages. mp_ states the number and bytes of these blocks.
// The search ends when it has them all. Cost: 16 bytes read of each resident page of private
// anonymous mappings that are no heap.
#pragma once

#include "glibc.hpp"
#include "walk.hpp"

#include <vector>

namespace heapwright::look {

struct MappedChunk {
    Address at;            ///< of the mapping
    std::uint64_t size;    ///< of the mapping
    std::uint64_t skipped; ///< before the chunk, because of an alignment

    Address object() const { return at + skipped + chunkHeader; }
    std::uint64_t usable() const { return size - skipped - chunkHeader; }
};

/// Ascending. Pre: `segments` ascend.
std::vector<MappedChunk> mappedChunks(const Image& image, const Glibc& glibc,
                                      const std::vector<Segment>& segments);

} // namespace heapwright::look

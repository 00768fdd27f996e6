// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Freed chunks that glibc keeps aside: in the fast bins of an arena, and in the caches of threads.
// Their neighbours see them as in use.
#pragma once

#include "glibc.hpp"

#include <unordered_map>

namespace heapwright::look {

/// Address of a chunk and its size.
using ChunkSizes = std::unordered_map<Address, std::uint64_t>;

/// The chunks of the fast bins of an arena. Lists whose links are broken end there.
void addFastChunks(const Image& image, const Arena& arena, ChunkSizes& to);

/// Whether a chunk of this size may be the table of a thread's cache.
bool mayBeThreadCache(std::uint64_t size);

/// Adds the chunks of the thread cache whose table is the chunk at `at`. Returns false if it is no
/// such table. Each list must have the length that the table states, of chunks of the right size.
/// A table without chunks cannot be distinguished from a block of zeros; it is none.
bool addThreadCache(const Image& image, Address at, ChunkSizes& to);

} // namespace heapwright::look

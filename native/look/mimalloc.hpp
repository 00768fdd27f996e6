// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The heap of mimalloc 2, walked by its segments of 32 MiB. A segment begins with a table of its
// pages. A page counts its used blocks, and lists its free ones.
//
// Layouts differ by version, so the caller states the version of the library. The figures count
// only if the whole walk agrees with itself:
// - all cookies of segments belong to one secret, and nothing else has a cookie of this secret
// - the spans of a segment fill it, and as many of them are pages as it counts
// - the blocks of a page are as many as fit; used and listed ones together are all that it has.
//   A page of several blocks may count one wrong, because a thread may be moving one
// - a heap counts as many pages as were found to be its own.
//
// Blocks that other threads freed are still counted as used. Their lists are subtracted.
// Source: include/mimalloc/types.h of the versions in `layouts`.
// Cost: 50 KiB read of each segment, and the pages that have free blocks.
#pragma once

#include "heap.hpp"

#include <optional>
#include <string>

namespace heapwright::look {

struct MimallocAccount {
    std::string problem; ///< why the figures do not count; empty: they do
    std::uint64_t segments = 0;
    std::uint64_t pages = 0;
    Blocks live;
    std::uint64_t freeBytes = 0; ///< of free blocks in pages with live ones
    std::uint64_t resident = 0;  ///< of the segments
};

/// `version` is what the library's `mi_version` returns. Nothing if the version is not known.
std::optional<MimallocAccount> findMimalloc(const Image& image, unsigned version);

} // namespace heapwright::look

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Where glibc's malloc has its state, found without symbols. The layout is that of glibc 2.26 to
// 2.41 on x86-64; the layout of `mp_` is that of 2.35 and later.
// A main arena is a stretch of a library's or program's data with 127 bins. Each is empty and
// points to itself, or leads to two chunks. The last bin is always empty. The `next` pointers lead
// through all arenas and back, and the heap of each other arena names it as its owner. Source:
// malloc/malloc.c and malloc/arena.c of glibc describe the structures.
#pragma once

#include "image.hpp"

#include <array>
#include <optional>
#include <vector>

namespace heapwright::look {

constexpr Address arenaBytes = 2200;
constexpr Address mappedBit = 2;
constexpr Address otherArenaBit = 4;
constexpr Address inUseBit = 1;
constexpr Address sizeFlags = 7;
constexpr Address leastChunk = 32;
constexpr Address chunkHeader = 16;
constexpr Address chunkAlignment = 16;
constexpr std::size_t fastBins = 10;

struct Arena {
    Address at = 0;
    bool isMain = false;
    bool isLocked = false;
    Address top = 0;
    Address next = 0;
    std::uint64_t threads = 0;     ///< attached_threads
    std::uint64_t systemBytes = 0; ///< system_mem
    Address heapInfoBytes = 0;     ///< of a heap of another arena
    std::array<Address, fastBins> fast{};
};

/// mp_, the parameters.
struct Parameters {
    std::uint64_t trimThreshold = 0;
    std::uint64_t topPad = 0;
    std::uint64_t mmapThreshold = 0;
    std::uint64_t arenaMax = 0;
    std::uint64_t hugePageBytes = 0; ///< hp_pagesize
    std::uint64_t thpBytes = 0;      ///< thp_pagesize
    std::uint32_t mmaps = 0;
    bool isThresholdFixed = false; ///< no_dyn_threshold
    std::uint64_t mmappedBytes = 0;
    Address heapBegin = 0; ///< sbrk_base
    std::uint64_t tcacheCount = 0;
};

struct Glibc {
    std::vector<Arena> arenas; ///< the main arena first
    std::optional<Parameters> parameters;
    std::string path;    ///< the file whose data has the main arena
    Mapping data;        ///< that mapping
    bool isWhole = true; ///< the `next` pointers led back

    /// The size to which heaps of other arenas are aligned.
    Address heapSpan() const;
};

/// Nothing if no initialised main arena is found.
std::optional<Glibc> findGlibc(const Image& image);

/// Reads an arena. Nothing if its bins are not those of an arena.
std::optional<Arena> readArena(const Image& image, Address at);

} // namespace heapwright::look

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "glibc.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace heapwright::look {

namespace {

// Offsets in malloc_state.
constexpr Address fastAt = 16;
constexpr Address topAt = 96;
constexpr Address binsAt = 112;
constexpr Address bins = 127;
constexpr Address nextAt = 2160;
constexpr Address threadsAt = 2176;
constexpr Address systemAt = 2184;
constexpr Address mostSystemAt = 2192;
constexpr Address lastBinAt = binsAt + (bins - 1) * 16;

// Offsets in malloc_par, and its size up to the limits of thread caches.
constexpr Address heapBeginAt = 96;
constexpr Address parametersBytes = 136;
constexpr std::uint64_t mostCached = 1032;
constexpr std::uint64_t mostHugePage = 1 << 30;

constexpr std::uint64_t mostData = 256 << 20;
constexpr Address otherHeapSpan = 64 << 20;

using Bytes = std::vector<char>;

std::uint64_t wordOf(const Bytes& bytes, std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

std::uint32_t halfOf(const Bytes& bytes, std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

/// A bin points to itself, as a chunk that begins 16 bytes before it.
bool isEmptyLast(const Bytes& bytes, std::size_t at, Address begin) {
    const Address self = begin + at + lastBinAt - chunkHeader;
    return wordOf(bytes, at + lastBinAt) == self && wordOf(bytes, at + lastBinAt + 8) == self;
}

std::optional<Arena> parseArena(const Bytes& bytes, std::size_t at, Address begin) {
    if (!isEmptyLast(bytes, at, begin)) {
        return std::nullopt;
    }
    for (Address bin = 0; bin < bins; ++bin) {
        const Address self = begin + at + binsAt + bin * 16 - chunkHeader;
        const std::uint64_t first = wordOf(bytes, at + binsAt + bin * 16);
        const std::uint64_t last = wordOf(bytes, at + binsAt + bin * 16 + 8);
        if ((first == self) != (last == self) || first % 16 != self % 16 || first == 0) {
            return std::nullopt;
        }
    }
    Arena arena;
    arena.at = begin + at;
    arena.isLocked = halfOf(bytes, at) != 0;
    for (std::size_t bin = 0; bin < fastBins; ++bin) {
        arena.fast[bin] = wordOf(bytes, at + fastAt + bin * 8);
    }
    arena.top = wordOf(bytes, at + topAt);
    arena.next = wordOf(bytes, at + nextAt);
    arena.threads = wordOf(bytes, at + threadsAt);
    arena.systemBytes = wordOf(bytes, at + systemAt);
    const bool isSane = arena.systemBytes <= wordOf(bytes, at + mostSystemAt) &&
                        arena.systemBytes % chunkAlignment == 0 && arena.top % 16 == 0 &&
                        arena.next != 0;
    return isSane ? std::optional(arena) : std::nullopt;
}

std::optional<Parameters> parseParameters(const Bytes& bytes, std::size_t at) {
    Parameters found;
    found.trimThreshold = wordOf(bytes, at);
    found.topPad = wordOf(bytes, at + 8);
    found.mmapThreshold = wordOf(bytes, at + 16);
    found.arenaMax = wordOf(bytes, at + 32);
    found.thpBytes = wordOf(bytes, at + 40);
    found.hugePageBytes = wordOf(bytes, at + 48);
    found.mmaps = halfOf(bytes, at + 60);
    found.isThresholdFixed = halfOf(bytes, at + 72) != 0;
    found.mmappedBytes = wordOf(bytes, at + 80);
    found.heapBegin = wordOf(bytes, at + heapBeginAt);
    found.tcacheCount = wordOf(bytes, at + 120);
    const std::uint64_t tcacheBins = wordOf(bytes, at + 104);
    const std::uint64_t tcacheMost = wordOf(bytes, at + 112);
    const bool isSane =
        tcacheBins >= 1 && tcacheBins <= 64 && tcacheMost <= mostCached && tcacheMost != 0 &&
        found.tcacheCount <= 0xffff && found.mmaps <= halfOf(bytes, at + 68) &&
        (found.mmaps == 0) == (found.mmappedBytes == 0) &&
        found.mmappedBytes <= wordOf(bytes, at + 88) && found.mmappedBytes % pageBytes == 0 &&
        (found.hugePageBytes & (found.hugePageBytes - 1)) == 0 &&
        found.hugePageBytes <= mostHugePage && found.topPad < (1ULL << 40);
    return isSane ? std::optional(found) : std::nullopt;
}

/// Another arena is in its own first heap, behind the description of this heap.
bool belongs(const Image& image, Arena& arena, Address span) {
    const Address heap = arena.at & ~(span - 1);
    arena.heapInfoBytes = arena.at - heap;
    return image.word(heap) == arena.at && (arena.heapInfoBytes == 32 || arena.heapInfoBytes == 48);
}

/// sbrk_base is in the heap, or zero before the first request.
bool isHeapBegin(const Image& image, Address at) {
    const Mapping* const mapping = image.find(at);
    return at == 0 || (mapping != nullptr && mapping->isAnonymousData());
}

void findParameters(const Image& image, const Bytes& bytes, Glibc& found) {
    for (std::size_t at = 0; at + parametersBytes <= bytes.size(); at += 8) {
        const std::optional<Parameters> parsed = parseParameters(bytes, at);
        const bool isBetter =
            parsed &&
            (!found.parameters || (found.parameters->heapBegin == 0 && parsed->heapBegin != 0));
        if (isBetter && isHeapBegin(image, parsed->heapBegin)) {
            found.parameters = parsed;
        }
    }
}

/// Follows `next` through all arenas.
void addOthers(const Image& image, Glibc& found) {
    const Address main = found.arenas.front().at;
    Address next = found.arenas.front().next;
    std::unordered_set<Address> known;
    while (next != main) {
        std::optional<Arena> arena = readArena(image, next);
        if (!arena || !known.insert(next).second || !belongs(image, *arena, found.heapSpan())) {
            found.isWhole = false;
            return;
        }
        found.arenas.push_back(*arena);
        next = arena->next;
    }
}

} // namespace

Address Glibc::heapSpan() const {
    const Address huge = parameters ? parameters->hugePageBytes : 0;
    return huge == 0 ? otherHeapSpan : 4 * huge;
}

std::optional<Arena> readArena(const Image& image, Address at) {
    Bytes bytes(arenaBytes);
    image.read(at, bytes.data(), bytes.size());
    return parseArena(bytes, 0, at);
}

std::optional<Glibc> findGlibc(const Image& image) {
    std::optional<Glibc> best;
    for (const Mapping& mapping : image.mappings()) {
        if (!mapping.isData() || !mapping.isFile() || mapping.size() > mostData) {
            continue;
        }
        Bytes bytes(mapping.size());
        image.read(mapping.begin, bytes.data(), bytes.size());
        for (std::size_t at = 0; at + arenaBytes <= bytes.size(); at += 8) {
            std::optional<Arena> arena = parseArena(bytes, at, mapping.begin);
            if (!arena) {
                continue;
            }
            arena->isMain = true;
            Glibc found;
            found.arenas.push_back(*arena);
            found.path = mapping.path;
            found.data = mapping;
            findParameters(image, bytes, found);
            addOthers(image, found);
            // A namespace of dlmopen has a C library of its own. The one with more memory counts.
            if (!best || best->arenas.front().systemBytes < arena->systemBytes) {
                best = std::move(found);
            }
        }
    }
    return best;
}

} // namespace heapwright::look

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "caches.hpp"

namespace heapwright::look {

namespace {

constexpr std::size_t lists = 64;
constexpr std::uint64_t tableChunk = 0x290; ///< 64 counts of 2 bytes, 64 pointers, and the header
constexpr std::size_t mostFast = 10'000'000;

/// Each link is the next address, combined by exclusive or with the page number of its own place
/// (since glibc 2.32). Older versions have plain links.
Address nextOf(const Image& image, Address linkAt, bool isProtected) {
    const std::uint64_t word = image.word(linkAt);
    return isProtected ? word ^ (linkAt >> 12) : word;
}

std::uint64_t sizeOf(const Image& image, Address chunk) {
    return image.word(chunk + 8) & ~sizeFlags;
}

struct Table {
    std::uint16_t counts[lists];
    Address entries[lists];
};

/// The chunks of one list; false if it is not as long as the table says.
bool readList(const Image& image, Address entry, std::uint16_t count, std::uint64_t size,
              bool isProtected, ChunkSizes& to) {
    for (std::uint16_t each = 0; each < count; ++each) {
        if (entry == 0 || entry % chunkAlignment != 0 ||
            sizeOf(image, entry - chunkHeader) != size) {
            return false;
        }
        to.emplace(entry - chunkHeader, size);
        entry = nextOf(image, entry, isProtected);
    }
    return entry == 0;
}

bool readTable(const Image& image, const Table& table, bool isProtected, ChunkSizes& found) {
    for (std::size_t list = 0; list < lists; ++list) {
        if ((table.counts[list] == 0) != (table.entries[list] == 0) ||
            !readList(image, table.entries[list], table.counts[list],
                      leastChunk + list * chunkAlignment, isProtected, found)) {
            return false;
        }
    }
    return !found.empty();
}

} // namespace

void addFastChunks(const Image& image, const Arena& arena, ChunkSizes& to) {
    for (std::size_t bin = 0; bin < fastBins; ++bin) {
        const std::uint64_t size = leastChunk + bin * chunkAlignment;
        Address chunk = arena.fast[bin];
        for (std::size_t count = 0; chunk != 0 && count < mostFast; ++count) {
            if (chunk % chunkAlignment != 0 || sizeOf(image, chunk) != size ||
                !to.emplace(chunk, size).second) {
                break;
            }
            const Address link = chunk + chunkHeader;
            const Address next = nextOf(image, link, true);
            chunk = next % chunkAlignment == 0 ? next : nextOf(image, link, false);
        }
    }
}

bool mayBeThreadCache(std::uint64_t size) {
    return size == tableChunk || size == tableChunk + chunkAlignment;
}

bool addThreadCache(const Image& image, Address at, ChunkSizes& to) {
    Table table;
    if (!image.readValue(at + chunkHeader, table)) {
        return false;
    }
    for (const bool isProtected : {true, false}) {
        ChunkSizes found;
        if (readTable(image, table, isProtected, found)) {
            to.insert(found.begin(), found.end());
            return true;
        }
    }
    return false;
}

} // namespace heapwright::look

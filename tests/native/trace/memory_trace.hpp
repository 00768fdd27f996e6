// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A trace in memory, written as the recorder writes it. Blocks are claimed from the header, events
// are written into open blocks, and it may stop at any moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "trace/blocks.hpp"
#include "trace/encoder.hpp"

namespace heapwright::trace {

class MemoryTrace {
public:
    explicit MemoryTrace(std::size_t pages = 64) : pages_(pages) {
        header() = newHeader(Clock::monotonic, 0, 1'000'000'000, 1000, 0);
        sealHeader(header());
    }

    FileHeader& header() { return *reinterpret_cast<FileHeader*>(bytes()); }
    std::byte* bytes() { return reinterpret_cast<std::byte*>(pages_.data()); }

    /// The whole file, or what was claimed of it.
    std::span<const std::byte> file() { return {bytes(), header().claimed}; }

    /// Room for a block.
    void* claim(unsigned shift = 0) {
        std::byte* const at = bytes() + header().claimed;
        header().claimed += pageSize << shift;
        return at;
    }

    /// A new block of a thread. The trace began at 1000.
    void open(Encoder& encoder, std::uint32_t thread, std::uint32_t sequence, std::uint64_t now,
              unsigned shift = 0) {
        encoder.open(claim(shift),
                     {.process = 0,
                      .thread = thread,
                      .sequence = sequence,
                      .threadId = 100 + thread,
                      .sizeShift = static_cast<std::uint8_t>(shift),
                      .stackBits = 0,
                      .startTicks = header().startTicks},
                     now);
    }

private:
    struct Page {
        alignas(4096) std::byte bytes[pageSize];
    };
    std::vector<Page> pages_;
};

} // namespace heapwright::trace

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the commands of one thread, chunk by chunk. A short plan is mapped. The chunks of a long
// plan are read into one small buffer per thread.
#pragma once

#include "replayer/plan.hpp"

#include <cstddef>
#include <cstdint>

namespace heapwright::replayer {

class CommandReader {
public:
    CommandReader() = default;

    /// `mapped`: the whole plan, or null; then `buffer` holds the largest chunk.
    CommandReader(int plan, const char* mapped, char* buffer, ChunkHeader first)
        : plan_(plan), mapped_(mapped), buffer_(buffer), next_(first) {}

    /// The first command of the next chunk.
    const std::uint64_t* nextChunk();

    std::uint64_t ticks() const { return ticks_; } ///< that reading took

private:
    int plan_ = -1;
    const char* mapped_ = nullptr;
    char* buffer_ = nullptr;
    ChunkHeader next_{};
    std::uint64_t ticks_ = 0;
};

} // namespace heapwright::replayer

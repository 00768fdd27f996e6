// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread's commands, chunk by chunk: from the plan as it lies mapped, or, where the plan is long,
// read into one small buffer of the thread's own.
#pragma once

#include "replayer/plan.hpp"

#include <cstddef>
#include <cstdint>

namespace heapwright::replayer {

class Feed {
public:
    Feed() = default;

    /// `mapped`: the whole plan, or null; then `buffer` holds the largest chunk.
    Feed(int plan, const char* mapped, char* buffer, ChunkHeader first)
        : plan_(plan), mapped_(mapped), buffer_(buffer), next_(first) {}

    /// The first command of the next chunk.
    const std::uint64_t* chunk();

    std::uint64_t ticks() const { return ticks_; } ///< that reading took

private:
    int plan_ = -1;
    const char* mapped_ = nullptr;
    char* buffer_ = nullptr;
    ChunkHeader next_{};
    std::uint64_t ticks_ = 0;
};

} // namespace heapwright::replayer

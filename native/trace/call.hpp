// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Events in a compact form, for readers of many millions of them. A frequent event takes half a
// cache line, and one thread's events come in large batches. An event that does not fit this form
// is stored beside it as a whole `Event`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/event.hpp"

namespace heapwright::trace {

/// What a call did, as far as its short form can say.
enum class CallKind : std::uint8_t {
    allocation, ///< returned a block; not a realloc, except of null
    free,       ///< of a block
    nullFree,   ///< of null
    inPlace,    ///< a realloc left its block where it was
    other,      ///< anything else
};

/// Of frees, `size`, `usable` and `stack` mean nothing. `inPlace` and `other` stand as events
/// beside their calls, too.
struct Call {
    std::uint64_t time;
    std::uint64_t address;
    std::uint32_t size;
    std::uint32_t usable;
    std::uint32_t stack; ///< `inPlace` and `other`: the place among the events of their chunk
    Routine routine;
    CallKind kind;
    std::uint16_t unused;
};
static_assert(sizeof(Call) == 32);

/// Calls that were decoded together. Padding calls without meaning follow the last one, so that a
/// reader can look ahead without a bounds check.
struct CallChunk {
    static constexpr std::size_t behind = 24;

    std::vector<Call> calls;
    std::vector<Event> others;
};

/// Calls of one thread, in order, before which nothing of another thread is left.
struct CallRun {
    const Call* calls = nullptr;
    std::size_t count = 0;
    CallChunk* chunk = nullptr; ///< in which they stand
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    bool endsChunk = false; ///< no entry of the chunk is needed after these
};

} // namespace heapwright::trace

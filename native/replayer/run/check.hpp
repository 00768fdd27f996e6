// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks the promises of an allocator while a trace is replayed. No object overlaps another one,
// and the contents are unchanged when the object is freed. A realloc keeps them, and calloc's
// memory is zero. An address is aligned as requested, or as any type of its size needs.
#pragma once

#include "findings.hpp"
#include "live_bitmap.hpp"

#include "trace/event.hpp"

#include <cstddef>

namespace heapwright::replayer {

class Check {
public:
    void allocated(trace::Routine routine, void* object, std::size_t size, std::size_t alignment);
    void freeing(void* object, std::size_t size);
    void reallocating(void* object, std::size_t size);
    /// The realloc failed: the object is as before.
    void reallocFailed(void* object, std::size_t size);
    /// `old` is where the object stood; its memory is not looked at.
    void reallocated(void* object, const void* old, std::size_t oldSize, std::size_t size);

    const Findings& findings() const { return findings_; }

private:
    void place(trace::Routine routine, void* object, std::size_t size, std::size_t alignment);
    void verify(trace::Routine routine, const void* object, std::size_t size);
    void find(FaultKind wrong, trace::Routine routine, const void* object, std::size_t size,
              std::size_t at);

    LiveBitmap liveBytes_;
    Findings findings_;
};

} // namespace heapwright::replayer

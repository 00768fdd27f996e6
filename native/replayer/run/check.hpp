// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds an allocator to its word while a trace is replayed: no object overlaps another one, what is
// written into one is still there when it is taken, a realloc keeps it, calloc's memory is zero, an
// address is aligned as asked for, or as any type of its size needs.
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

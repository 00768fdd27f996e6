// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What happens between threads, told by those to whom it happens: every shared variable and every
// lock says so just before it acts. In an ordinary build nobody listens and nothing of it is left
// in the code. A counting build adds it up (`count_events.hpp`, which one source file includes); in
// a scheduled build a test's scheduler decides at each such point which thread goes on.
//
// A layer notes for itself only what no `Shared` and no lock knows of: `written`, for a word of its
// own that several threads write under a lock.
#pragma once

#include <heapwright/platform/build.hpp>
#include <heapwright/sync/event.hpp>

namespace heapwright {

/// Defined by `count_events.hpp` in a counting build.
void countEvent(Event event, const volatile void* address) noexcept;

/// Defined by the scheduler of a scheduled build; returns when the calling thread may go on.
void scheduleEvent(Event event, const volatile void* address) noexcept;

/// Says that the calling thread is about to do something (or, with `lockTaken`, has done it) to the
/// shared variable or lock at an address. Cost: none in an ordinary build.
inline void note([[maybe_unused]] Event event,
                 [[maybe_unused]] const volatile void* address) noexcept {
    if constexpr (platform::countsEvents) {
        countEvent(event, address);
    } else if constexpr (platform::scheduled) {
        scheduleEvent(event, address);
    }
}

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reports what happens between threads. Every shared variable and every lock calls `note` just
// before it acts. An ordinary build compiles none of this. A counting build counts the events
// (`event_counts.hpp`). In a scheduled build, a test's scheduler decides at each event which thread
// continues.
//
// A layer calls `note` itself only for `written`: a word of its own that several threads write
// under a lock.
#pragma once

#include <heapwright/platform/build.hpp>

#include <cstdint>

namespace heapwright {

/// The kinds of events.
enum class Event : std::uint8_t {
    load,            ///< a shared variable is read
    store,           ///< a shared variable is written
    readModifyWrite, ///< an atomic read-modify-write of a shared variable, or an attempt at one
    written,         ///< a variable that a lock protects, or an object's header, is written
    lockTrying,      ///< a lock is taken if it is free
    lockTaking,      ///< a lock is taken, with waiting if needed
    lockTaken,       ///< the lock has been taken
    lockWaiting,     ///< the lock is not free, and the thread waits
    lockAtomic,      ///< an atomic instruction works on a lock's word
    lockFreeing,     ///< the lock is released
};

/// Counts an event. The counter of a counting build defines this function.
void countEvent(Event event, const volatile void* address) noexcept;

/// Returns when the calling thread may continue. The scheduler of a scheduled build defines this
/// function.
void scheduleEvent(Event event, const volatile void* address) noexcept;

/// Reports an event on the shared variable or lock at `address`, just before it happens
/// (`lockTaken`: just after).
/// Cost: none in an ordinary build.
inline void note([[maybe_unused]] Event event,
                 [[maybe_unused]] const volatile void* address) noexcept {
    if constexpr (platform::countsEvents) {
        countEvent(event, address);
    } else if constexpr (platform::scheduled) {
        scheduleEvent(event, address);
    }
}

} // namespace heapwright

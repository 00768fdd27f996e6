// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What happens between threads, told by those to whom it happens: every shared variable and every
// lock says so just before it acts. In an ordinary build nobody listens and nothing of it is left
// in the code. A counting build adds it up (`event_counts.hpp`); in
// a scheduled build a test's scheduler decides at each such point which thread goes on.
//
// A layer notes for itself only what no `SharedWord` and no lock knows of: `written`, for a word of
// its own that several threads write under a lock.
#pragma once

#include <heapwright/platform/build.hpp>

#include <cstdint>

namespace heapwright {

/// What can happen between threads.
enum class Event : std::uint8_t {
    load,            ///< a shared variable is read
    store,           ///< … is written
    readModifyWrite, ///< … is changed in one step, or an attempt is made
    written,         ///< a variable that a lock protects, or an object's header, is written
    lockTrying,      ///< a lock will be taken if it is free
    lockTaking,      ///< a lock will be taken, however long it takes
    lockTaken,       ///< it has been
    lockWaiting,     ///< it is not free, and is waited for
    lockAtomic,      ///< an atomic instruction works on a lock's word
    lockFreeing,     ///< it will be given back
};

/// Defined by who counts, in a counting build.
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

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What stands around each call of the allocator: the call is passed on, stamped and written. An
// allocation is stamped when it has returned, a free before it is made, a realloc at both ends; so
// an address that another thread gets again is freed first in the trace, too.
//
// Invariants: while a record is being written the thread's state says so, and a signal handler that
// allocates then is passed on unrecorded. errno is the allocator's. Cost, without stacks: about 60
// instructions a call.
#pragma once

#include "next.hpp"
#include "session.hpp"
#include "stacks/stacks.hpp"
#include "stream.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright::recorder {

using trace::Routine;

/// Marks where the calling thread is, in an order that its own signal handlers can rely on.
[[gnu::always_inline]] inline void enter(Thread& self, State state) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    self.state = state;
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// Whether the program itself makes this call. Otherwise it is to be passed on as it is.
[[gnu::always_inline]] inline bool isOutermost(Thread& self) noexcept {
    return self.state == State::idle || wake(self);
}

inline std::uint64_t addressOf(const void* object) noexcept {
    return reinterpret_cast<std::uintptr_t>(object);
}

/// Room for an event, or the event is counted as lost.
[[gnu::always_inline]] inline bool hasRoom(Thread& self) noexcept {
    return self.stream->encoder.hasRoom() || makeRoom(self);
}

[[gnu::always_inline]] inline void finish(Thread& self) noexcept {
    if (self.over) [[unlikely]] {
        closeStream(self);
    }
    enter(self, State::idle);
}

inline std::uint64_t usableOf(void* object, std::size_t size) noexcept {
    if (object == nullptr) {
        return 0;
    }
    return next.usableSize != nullptr ? next.usableSize(object) : size;
}

/// An allocation that has returned. `frame` is that of the routine that the program called.
[[gnu::always_inline]] inline void noteAllocated(Thread& self, Routine routine, void* object,
                                                 std::size_t size, std::size_t alignment,
                                                 const void* frame) noexcept {
    if (!session.wants() || (session.samples() && !session.samples(object))) {
        enter(self, State::idle);
        return;
    }
    enter(self, State::writing);
    const std::uint64_t usable = usableOf(object, size);
    const stacks::StackId stack = session.takesStacks() ? stacks::capture(frame) : 0;
    if (hasRoom(self)) [[likely]] {
        self.stream->encoder.allocated(routine, session.clock(), addressOf(object), size, usable,
                                       stack, alignment);
    }
    finish(self);
}

/// A free that is about to happen; the thread stays in the middle of the call.
[[gnu::always_inline]] inline void noteFreed(Thread& self, Routine routine,
                                             const void* object) noexcept {
    if (!session.wants() || (session.samples() && !session.samples(object))) {
        enter(self, State::inside);
        return;
    }
    enter(self, State::writing);
    if (hasRoom(self)) [[likely]] {
        self.stream->encoder.freed(routine, session.clock(), addressOf(object));
    }
    if (self.over) [[unlikely]] {
        closeStream(self);
    }
    enter(self, State::inside);
}

struct Resized {
    Routine routine;
    std::uint64_t began;
    std::uint64_t old;
    void* object;
    std::size_t size;
};

/// A realloc that has returned.
void noteResized(Thread& self, const Resized& call, const void* frame) noexcept;

} // namespace heapwright::recorder

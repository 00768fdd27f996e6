// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The code around each call of the allocator: the call is forwarded, stamped and written. An
// allocation is stamped after it returned, a free before it is made, a realloc at both ends. If
// another thread gets the same address again, the trace therefore shows the free first.
//
// Invariant: the thread's state marks that a record is being written. An allocation by a signal
// handler in that state is forwarded unrecorded. errno is the allocator's.
// Cost: without stacks, 95 instructions for a call of malloc or free.
#pragma once

#include "next.hpp"
#include "recording.hpp"
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
inline bool isOutermost(Thread& self) noexcept {
    return self.state == self.rest || (self.state != State::inside && wake(self));
}

inline std::uint64_t addressOf(const void* object) noexcept {
    return reinterpret_cast<std::uintptr_t>(object);
}

/// An allocation that has returned. `frame` is that of the routine that the program called.
void noteAllocated(Thread& self, Routine routine, void* object, std::size_t size,
                   std::size_t alignment, const void* frame) noexcept;

/// A free that is about to happen; the thread stays in the middle of the call.
void noteFreed(Thread& self, Routine routine, const void* object) noexcept;

/// What to do when the common way ends in the middle: as `noteAllocated`; returns the object.
[[gnu::cold, gnu::noinline]] void* noteAllocatedUncommonly(void* object, std::size_t size,
                                                           Routine routine) noexcept;

/// An allocation in a thread that was idle, and is inside. Returns the object.
[[gnu::always_inline]] inline void* noteAllocatedPlainly(Thread& self, Routine routine,
                                                         void* object, std::size_t size) noexcept {
    const bool common = object != nullptr && addressOf(object) % trace::coding::grain == 0;
    if (!common) [[unlikely]] {
        return noteAllocatedUncommonly(object, size, routine);
    }
    const std::uint64_t usable = nextUsableSize(object);
    trace::Encoder& encoder = self.stream->encoder;
    if (!encoder.hasRoom() || !recording.isRecording()) [[unlikely]] {
        return noteAllocatedUncommonly(object, size, routine);
    }
    enter(self, State::writing);
    encoder.allocatedPlainly(routine, recording.plainClock(), addressOf(object), size, usable);
    enter(self, State::idle);
    return object;
}

/// A free in a thread that was idle, and is inside afterwards; false if it was not noted, because
/// something about it is uncommon.
[[gnu::always_inline]] inline bool noteFreedPlainly(Thread& self, Routine routine,
                                                    const void* object) noexcept {
    const bool common = object != nullptr && addressOf(object) % trace::coding::grain == 0;
    trace::Encoder& encoder = self.stream->encoder;
    if (!common || !encoder.hasRoom() || !recording.isRecording()) [[unlikely]] {
        return false;
    }
    enter(self, State::writing);
    encoder.freedPlainly(routine, recording.plainClock(), addressOf(object));
    enter(self, State::inside);
    return true;
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

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What one thread records into: its place in the file, and where in a call the thread is. The
// common path touches nothing that another thread touches.
//
// A thread's state is a word in its own storage. It says whether a call is the program's (idle), or
// was made inside another one (inside: operator new calling malloc; passed on, not recorded), or
// came from a signal handler in the middle of a record (writing: passed on and counted as lost). A
// new thread is `fresh`, and one that does not record in the common way (with stacks, a sample,
// after the thread's end was told) is `careful` instead of idle: so one comparison finds all that
// is not the common path.
//
// Invariants: the encoder, 3 KiB, is not in the thread's storage, which would eat up small stacks,
// but in a pool of our own pages, and goes back there at the thread's end. What a thread asks for
// after that has a block to itself for each call. Cost: a thread's first event costs a page of the
// file and seven calls to the system.
#pragma once

#include "session.hpp"

#include <cstdint>

namespace heapwright::recorder {

enum class State : std::uint32_t { fresh, idle, careful, inside, writing };

struct Stream {
    trace::Encoder encoder;
    Stream* nextFree;
    void* tables; ///< of the encoder, for events with stacks; kept when the stream goes back
};

struct Thread {
    Stream* stream;
    State state;
    State rest;             ///< what it is between calls: idle or careful
    std::uint32_t number;   ///< one more than the thread's in the trace; 0 = it has none
    std::uint32_t sequence; ///< of its next block
    std::uint32_t process;  ///< the session's generation in which the number was given
    std::uint32_t lost;     ///< events that no block tells of yet
    std::uint8_t sizeShift; ///< of its next block
    bool over;              ///< its end was told
};

/// Has no block and no room: so a thread without a stream needs no test of its own.
extern Stream noStream;

extern constinit thread_local Thread thisThread __attribute__((tls_model("initial-exec")));

/// Makes room for one event; false if there is none to be had.
[[gnu::cold, gnu::noinline]] bool makeRoom(Thread& self) noexcept;

/// After an event of a thread whose end was told.
[[gnu::cold, gnu::noinline]] void closeStream(Thread& self) noexcept;

/// First thing in a thread whose state is neither idle nor careful: whether the call is the
/// program's all the same.
[[gnu::cold, gnu::noinline]] bool wake(Thread& self) noexcept;

/// In the child of a fork: the streams are the parent's.
void forgetStreamsOfParent() noexcept;

/// The calling thread's number in the trace; 0 if it has none.
std::uint32_t numberOfThisThread() noexcept;

} // namespace heapwright::recorder

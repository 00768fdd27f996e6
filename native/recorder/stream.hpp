// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Gives a thread a stream with room for its next event. Only the first call of a thread, and a call
// that finds its block full, come here.
//
// Cost: the first event of a thread takes a page of the file and seven system calls.
#pragma once

#include "stream_pool.hpp"

namespace heapwright::recorder {

/// Makes room for one event; false if there is none to be had.
[[gnu::cold, gnu::noinline]] bool makeRoom(Thread& self) noexcept;

/// After an event of a thread whose end hook has run.
[[gnu::cold, gnu::noinline]] void closeStream(Thread& self) noexcept;

/// First thing in a thread whose state is neither idle nor careful: whether the call is the
/// program's all the same.
[[gnu::cold, gnu::noinline]] bool wake(Thread& self) noexcept;

/// Ends the call at the end of threads. A thread that makes its first call meanwhile may arrange it
/// again.
void forgetThreadEnds() noexcept;

} // namespace heapwright::recorder

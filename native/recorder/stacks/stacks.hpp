// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Which chain of calls asked for memory: what the recorder calls for each allocation when stacks
// are on. A chain is a number, the same for the same chain, valid within one process; 0 says that
// none was taken. The table that says what a number means, and the modules its addresses lie in, go
// into blocks of the trace as they grow, so that a killed process loses none of them.
//
// Invariants: nothing here allocates by malloc, takes a lock, changes errno, or reads memory that
// has not been seen to be readable; all of it may be called in a signal handler and before any
// constructor has run. Cost: some 60 to 300 instructions for a chain much like the thread's last
// one.
#pragma once

#include "host.hpp"

namespace heapwright::recorder::stacks {

/// Makes `capture` take stacks. Called once, before any other thread of the process captures; true
/// if stacks will be taken.
bool begin(const Host& host) noexcept;

/// The chain of calls that led to the routine whose frame address (`__builtin_frame_address(0)`)
/// this is: its caller is the innermost frame. 0 before `begin`, and where nothing could be found.
StackId capture(const void* frame) noexcept;

/// The same, from within the routine that the program called.
[[gnu::always_inline]] inline StackId captureHere() noexcept {
    return capture(__builtin_frame_address(0));
}

/// To be called after a dlclose: code may have gone, and other code may come to its place.
void noteModulesChanged() noexcept;

/// In the child of a fork, before it captures: what is new from now on goes into blocks of its own.
void afterForkInChild() noexcept;

/// At the end of a thread: gives back what it holds here. It may capture again afterwards.
void endThread() noexcept;

} // namespace heapwright::recorder::stacks

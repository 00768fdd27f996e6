// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Captures the call chain of an allocation. The recorder calls it for each allocation when stacks
// are on. Within one process equal numbers mean equal chains. A chain may get a second number after
// a library was unloaded, or if two threads meet it first at once. The number 0 means that no chain
// was taken. The table of numbers and the modules of its addresses are written into blocks of the
// trace as they grow. A killed process therefore loses none of them.
//
// Invariant: no function here calls malloc, changes errno, or reads memory that was not found
// readable. None takes a lock if the C library has `_dl_find_object` (glibc 2.35). All may be
// called in a signal handler and before any constructor has run. Cost: some 60 to 300 instructions
// for a chain similar to the thread's last one.
#pragma once

#include "host.hpp"

namespace heapwright::recorder::stacks {

/// Makes `capture` take stacks. Called once, before any other thread of the process captures; true
/// if stacks will be taken.
bool begin(const Host& host) noexcept;

/// The call chain of the routine with this frame address (`__builtin_frame_address(0)`). The
/// routine's caller is the innermost frame. Returns 0 before `begin`, and if no chain was found.
StackId capture(const void* frame) noexcept;

/// The same, from within the routine that the program called.
[[gnu::always_inline]] inline StackId captureHere() noexcept {
    return capture(__builtin_frame_address(0));
}

/// Stores the return addresses of a chain, innermost first; their number, at most `most`. Those of
/// a chain that was too long end with `trace::cutAddress`. No system call.
std::size_t addressesOf(StackId stack, std::uint64_t* addresses, std::size_t most) noexcept;

/// To be called after a dlclose: code may have gone, and other code may come to its place.
void noteModulesChanged() noexcept;

/// In the child of a fork, before it captures: what is new from now on goes into blocks of its own.
void afterForkInChild() noexcept;

/// At the end of a thread: releases its resources. The thread may capture again afterwards.
void endThread() noexcept;

} // namespace heapwright::recorder::stacks

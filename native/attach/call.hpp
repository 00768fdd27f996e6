// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a stopped thread call one function, and continue afterwards as if it had not.
//
// The call looks like the handler of a signal. The thread's stack gets the frame that the kernel
// writes for a handler. It has all registers, the state of the floating-point unit, and the mask of
// signals. The function returns to the C library's code for the end of handlers, and the kernel
// restores the frame. So the thread finds its way back by itself if this program dies at any step.
// No instruction is written into the process. Signals are blocked during the call.
//
// Invariant: each change of the registers is one system call, between two states in which the
// thread could continue.
// Source: the layout of the frame is the kernel's contract with programs
// (arch/x86/include/uapi/asm/sigcontext.h and ucontext.h).
#pragma once

#include "thread.hpp"

namespace heapwright::attach {

struct Call {
    pid_t process = 0;
    Address function = 0;
    Address signalReturn = 0; ///< `mov $15, %eax; syscall` of the C library
    void* data = nullptr;     ///< copied to the stack; its address there is the first argument
    std::size_t bytes = 0;
    std::uint64_t second = 0;  ///< argument
    bool firstIsValue = false; ///< the first argument is `value` and not the data
    std::uint64_t value = 0;
};

enum class CallResult {
    done,    ///< `data` has what the function left there
    refused, ///< nothing was changed
    late,    ///< it has not returned in time, and will continue by itself
    ended,   ///< the process ended meanwhile
};

/// The bytes of stack that a call needs.
constexpr std::size_t stackNeeded = 96 << 10;

CallResult makeCall(Thread& thread, const Call& call, Clock::time_point deadline);

} // namespace heapwright::attach

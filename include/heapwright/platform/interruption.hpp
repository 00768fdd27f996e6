// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The state that a signal interrupted: the instruction, the stack, and the alternate stack in use.
// The kernel passes it to the handler as a context. All functions return 0 on an unknown processor.
#pragma once

#include <heapwright/core/address.hpp>

#include <csignal>
#include <ucontext.h>

namespace heapwright::platform {

/// The address of the instruction that would have been executed next.
[[nodiscard]] inline Address interruptedInstruction(const ucontext_t& context) noexcept {
#if defined(__x86_64__)
    return static_cast<Address>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return static_cast<Address>(context.uc_mcontext.pc);
#else
    static_cast<void>(context);
    return 0;
#endif
}

/// The stack pointer at the interruption.
[[nodiscard]] inline Address interruptedStack(const ucontext_t& context) noexcept {
#if defined(__x86_64__)
    return static_cast<Address>(context.uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
    return static_cast<Address>(context.uc_mcontext.sp);
#else
    static_cast<void>(context);
    return 0;
#endif
}

/// The first address of the alternate stack if `here` lies on it; otherwise 0.
[[nodiscard]] inline Address alternateStackAt(const ucontext_t& context, Address here) noexcept {
    const Address first = addressOf(context.uc_stack.ss_sp);
    return here - first < context.uc_stack.ss_size ? first : 0;
}

} // namespace heapwright::platform

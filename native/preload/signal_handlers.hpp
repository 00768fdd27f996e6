// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions that set signal handlers, for an allocator that must be notified when a handler
// interrupted it (HandlerSafeHeap). The kernel gets the library's own function, the trampoline,
// which calls the program's handler.
//
// If the interrupted instruction is not the library's and the thread is in no slow path, the
// allocator was not interrupted. The trampoline then jumps to the program's handler. It does not if
// another handler was about to return, because that one may have interrupted the allocator.
// Otherwise it notifies the allocator before and after the handler. Queries return the program's
// own handlers and flags. Handlers set by direct system calls, or by the C library itself (system
// and posix_spawn, which set and restore them), are left as they are. These functions may be called
// in handlers, in children of vfork, and before the library's constructor. They change errno only
// on failure.
#pragma once

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ucontext.h>

#include <heapwright/platform/interruption.hpp>
#include <heapwright/structure/signal/request_state.hpp>
#include <heapwright/structure/thread/deferred_work.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <preload/instance.hpp>
#include <preload/own_code.hpp>
#include <preload/signal_table.hpp>

namespace heapwright::preload {

/// `Link` finds the C library's function (preload/link/).
template <class Allocator, class Link>
class SignalHandlers {
    using Entry = SignalTable::Entry;
    using Action = struct sigaction;

    /// The C library's sigaction.
    static auto* next() { return Link::nextSigaction(); }

public:
    /// sigaction, as the program calls it.
    static int setAction(int signal, const Action* wanted, Action* before) {
        if (wanted == nullptr || !SignalTable::isSignal(signal) || !isFunction(*wanted)) {
            return translated(signal, next()(signal, wanted, before), before);
        }
        Action ours = *wanted;
        ours.sa_sigaction = &onSignal;
        ours.sa_flags |= SA_SIGINFO;
        Action old = {};
        const Entry entry = {wanted->sa_sigaction, (wanted->sa_flags & SA_SIGINFO) != 0};
        const Entry oldEntry = SignalTable::exchange(signal, entry);
        if (next()(signal, &ours, &old) != 0) {
            SignalTable::exchange(signal, oldEntry);
            return -1;
        }
        if (before != nullptr) {
            *before = old;
            show(oldEntry, *before);
        }
        return 0;
    }

    /// signal and similar functions: sets a handler with flags. The signal itself is blocked in the
    /// handler, or not.
    static sighandler_t setHandler(int signal, sighandler_t handler, int flags, bool blocked) {
        if (handler == SIG_ERR || !SignalTable::isSignal(signal)) {
            errno = EINVAL;
            return SIG_ERR;
        }
        Action wanted = {};
        Action before = {};
        wanted.sa_handler = handler;
        wanted.sa_flags = flags;
        if (blocked) {
            ::sigaddset(&wanted.sa_mask, signal);
        }
        return setAction(signal, &wanted, &before) != 0 ? SIG_ERR : before.sa_handler;
    }

    /// signal with BSD semantics: the signal is blocked in the handler, and system calls are
    /// restarted unless siginterrupt was called.
    static sighandler_t setBsdHandler(int signal, sighandler_t handler) {
        const bool stops = SignalTable::isSignal(signal) && (interrupting() & bitOf(signal)) != 0;
        return setHandler(signal, handler, stops ? 0 : SA_RESTART, true);
    }

    /// signal with System V semantics: the handler runs once.
    static sighandler_t setSystemVHandler(int signal, sighandler_t handler) {
        return setHandler(signal, handler, static_cast<int>(SA_RESETHAND) | SA_NODEFER, false);
    }

    /// siginterrupt: for the present handler, and for those that `signal` sets later.
    static int setInterrupting(int signal, int interrupts) {
        Action action = {};
        if (setAction(signal, nullptr, &action) != 0) {
            return -1;
        }
        if (interrupts != 0) {
            interruptingSet.fetch_or(bitOf(signal), std::memory_order_relaxed);
            action.sa_flags &= ~SA_RESTART;
        } else {
            interruptingSet.fetch_and(~bitOf(signal), std::memory_order_relaxed);
            action.sa_flags |= SA_RESTART;
        }
        return setAction(signal, &action, nullptr);
    }

    /// sigset: a disposition, or SIG_HOLD, which blocks the signal instead.
    static sighandler_t setDisposition(int signal, sighandler_t disposition) {
        Action action = {};
        sigset_t mask;
        sigset_t old;
        ::sigemptyset(&mask);
        if (disposition == SIG_ERR || ::sigaddset(&mask, signal) != 0) {
            errno = EINVAL;
            return SIG_ERR;
        }
        const bool hold = disposition == holdSignal();
        Action wanted = {};
        wanted.sa_handler = disposition;
        if (setAction(signal, hold ? nullptr : &wanted, &action) != 0 ||
            ::sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &mask, &old) != 0) {
            return SIG_ERR;
        }
        return ::sigismember(&old, signal) != 0 ? holdSignal() : action.sa_handler;
    }

    /// Finds the C library's function before a fork, because the loader's locks may be held in the
    /// child. Otherwise the first call finds it, which precedes all handlers.
    static void prepare() { next(); }

private:
    /// SIG_HOLD, which headers define only for some programs.
    static sighandler_t holdSignal() { return reinterpret_cast<sighandler_t>(2); }

    /// Whether a handler is a function of the program, and neither a disposition nor the
    /// trampoline.
    static bool isFunction(const Action& action) {
        return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN &&
               action.sa_handler != SIG_ERR && action.sa_sigaction != &onSignal;
    }

    static int translated(int signal, int result, Action* before) {
        if (result == 0 && before != nullptr) {
            show(SignalTable::at(signal), *before);
        }
        return result;
    }

    /// Replaces the trampoline by the program's own handler and flags.
    static void show(Entry entry, Action& action) {
        if (action.sa_sigaction == &onSignal) {
            action.sa_sigaction = entry.handler;
            action.sa_flags &= entry.takesInfo ? ~0 : ~SA_SIGINFO;
        }
    }

    static void onSignal(int signal, siginfo_t* info, void* context) {
        const auto& interrupted = *static_cast<const ucontext_t*>(context);
        const Address instruction = platform::interruptedInstruction(interrupted);
        const SignalTable::Handler handler = SignalTable::at(signal).handler;
        const DeferredWork::Hold hold;
        returnOfHandlers.store(addressOf(__builtin_return_address(0)), std::memory_order_relaxed);
        if (instruction == 0 || isReturn(instruction) || OwnCode::contains(instruction) ||
            Allocator::inRequest()) {
            return runAside(handler, signal, info, context);
        }
        return handler(signal, info, context);
    }

    /// Whether an instruction is one of those that return from a handler to what it interrupted.
    static bool isReturn(Address instruction) {
        constexpr std::size_t bytes = 16; // a load of a number and the system call
        return instruction - returnOfHandlers.load(std::memory_order_relaxed) < bytes;
    }

    /// An exception of the handler passes through. request_state.hpp detects that the handler was
    /// left.
    [[gnu::noinline]] static void runAside(SignalTable::Handler handler, int signal,
                                           siginfo_t* info, void* context) {
        const auto& interrupted = *static_cast<const ucontext_t*>(context);
        const Address here = addressOf(__builtin_frame_address(0));
        const auto part = StackPart::below(here, platform::alternateStackAt(interrupted, here));
        const auto before = Allocator::beforeHandler(part, platform::interruptedStack(interrupted));
        FutexLock::passWake(); // the handler may wait for another thread
        handler(signal, info, context);
        Allocator::afterHandler(before);
    }

    static constexpr std::uint64_t bitOf(int signal) {
        return std::uint64_t{1} << (static_cast<unsigned>(signal - 1) % 64U);
    }
    static std::uint64_t interrupting() { return interruptingSet.load(std::memory_order_relaxed); }

    static inline constinit std::atomic<std::uint64_t> interruptingSet{0};
    /// Where a handler returns to: the C library's or the kernel's code that ends a handler.
    static inline constinit std::atomic<Address> returnOfHandlers{0};
};

} // namespace heapwright::preload

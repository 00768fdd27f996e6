// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The program's handler of each signal, where the kernel knows only the trampoline.
//
// Invariant: the kernel's state is authoritative, and every query asks it. An entry is valid only
// while the kernel has the trampoline for its signal. SIG_DFL and SIG_IGN are never entered, so a
// child of vfork, which shares the table with its parent, may reset all its handlers. An entry is
// set before the kernel gets the trampoline, so the trampoline always finds one. Entries are single
// atomic words, so a handler may set another. If two threads set handlers of the same signal at
// once, one of the two is kept, with the flags of either.
// Cost: a load for each signal.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>

namespace heapwright::preload {

class SignalTable {
public:
    using Handler = void (*)(int, siginfo_t*, void*);

    /// A handler, and whether the program set SA_SIGINFO. It always gets three arguments, in
    /// registers; a handler with one ignores the others.
    struct Entry {
        Handler handler;
        bool takesInfo;
    };

    static constexpr bool isSignal(int signal) { return signal >= 1 && signal < NSIG; }

    /// Pre: `isSignal(signal)`.
    static Entry at(int signal) { return unpacked(word(signal).load(std::memory_order_acquire)); }

    /// Sets an entry and returns the previous one.
    /// Pre: `isSignal(signal)`.
    static Entry exchange(int signal, Entry entry) {
        return unpacked(word(signal).exchange(packed(entry), std::memory_order_acq_rel));
    }

private:
    /// No function has such an address.
    static constexpr std::uintptr_t infoBit = ~(~std::uintptr_t{0} >> 1U);

    static std::uintptr_t packed(Entry entry) {
        return reinterpret_cast<std::uintptr_t>(entry.handler) | (entry.takesInfo ? infoBit : 0);
    }
    static Entry unpacked(std::uintptr_t word) {
        return {reinterpret_cast<Handler>(word & ~infoBit), (word & infoBit) != 0};
    }
    static std::atomic<std::uintptr_t>& word(int signal) {
        return words[static_cast<unsigned>(signal)];
    }

    static inline constinit std::array<std::atomic<std::uintptr_t>, NSIG> words{};
};

} // namespace heapwright::preload
